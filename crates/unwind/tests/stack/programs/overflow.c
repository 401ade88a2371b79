// Recursion without an end.
__attribute__((noipa)) int deeper(int level);
__attribute__((noipa)) int other(int level) { return deeper(level + 1) + 1; }
__attribute__((noipa)) int deeper(int level) { return level % 3 ? deeper(level + 1) + 1 : other(level) + 2; }
int main(void) { return deeper(0) + 1; }
