/* Coroutines by ucontext, and jumps by setjmp. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t main_context, producer, consumer;
static int item;
static void produce(void) { for (int i = 1; i <= 4; i++) { item = i * i; printf("made %d\n", item); swapcontext(&producer, &consumer); } }
static void consume(void) { for (int i = 0; i < 3; i++) { printf("used %d\n", item); swapcontext(&consumer, &producer); } puts("full"); }

static jmp_buf buffer;
static int deep(int n) { if (n == 0) longjmp(buffer, 42); return deep(n - 1) + 1; }

int main(void)
{
	getcontext(&producer);
	producer.uc_stack.ss_sp = malloc(65536); producer.uc_stack.ss_size = 65536; producer.uc_link = &main_context;
	makecontext(&producer, produce, 0);
	getcontext(&consumer);
	consumer.uc_stack.ss_sp = malloc(65536); consumer.uc_stack.ss_size = 65536; consumer.uc_link = &main_context;
	makecontext(&consumer, consume, 0);
	swapcontext(&main_context, &producer);
	puts("back");
	volatile int tries = 0;
	int code = setjmp(buffer);
	if (code == 0) { tries++; deep(100); }
	printf("jumped %d after %d\n", code, tries);
	return 0;
}
