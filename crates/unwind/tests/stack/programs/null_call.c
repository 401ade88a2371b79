// A call through a null pointer.
__attribute__((noipa)) int calls(int (*function)(int)) { return function(3) + 1; }
int main(void) { return calls(0) + 1; }
