// A return address that was overwritten.
__attribute__((noipa)) long smashed(long value) { void **frame = __builtin_frame_address(0); frame[1] = (void *)value; return value; }
__attribute__((noipa)) long outer(long value) { return smashed(value) + 1; }
int main(void) { return (int)outer(0x414243444546) + 1; }
