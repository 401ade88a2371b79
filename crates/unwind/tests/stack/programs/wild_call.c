// A call to where there is no code.
__attribute__((noipa)) int calls(int (*function)(int)) { return function(3) + 1; }
int main(void) { return calls((int (*)(int))0x414243444546) + 1; }
