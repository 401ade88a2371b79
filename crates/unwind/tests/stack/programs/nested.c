// Four functions deep, then a store to null.
#define APART __attribute__((noipa, noinline))
APART int gamma_(volatile int *place) { *place = 1; return *place; }
APART int beta(volatile int *place) { return gamma_(place) + 1; }
APART int alpha(volatile int *place) { char room[100]; __asm__("" ::"r"(room)); return beta(place) + 1; }
int main(int count, char **arguments) { (void)arguments; return alpha((int *)(long)(count - 1)) + 1; }
