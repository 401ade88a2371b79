/* Threads: mutex, condition, barrier, once, thread-local storage, semaphores, read-write locks. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 6, ROUNDS = 200 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t seats;
static int turn, inits, destroyed;
static long plain;
static atomic_long atomic_sum;
static atomic_int sitting, too_many;
static __thread long local = 7;

static void init(void) { inits++; }
static void destroy(void *value) { pthread_mutex_lock(&mutex); destroyed += *(int *)value; pthread_mutex_unlock(&mutex); free(value); }

static void *work(void *argument)
{
	int me = (int)(long)argument;
	pthread_once(&once, init);
	int *mine = malloc(sizeof *mine);
	*mine = me;
	pthread_setspecific(key, mine);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		plain += me;
		pthread_mutex_unlock(&mutex);
		atomic_fetch_add(&atomic_sum, i);
		local += me;
		sem_wait(&seats);
		if (atomic_fetch_add(&sitting, 1) >= 2) atomic_fetch_add(&too_many, 1);
		atomic_fetch_sub(&sitting, 1);
		sem_post(&seats);
		if (i % 50 == 0) { pthread_rwlock_wrlock(&lock); plain += 0; pthread_rwlock_unlock(&lock); }
		else { pthread_rwlock_rdlock(&lock); pthread_rwlock_unlock(&lock); }
	}
	pthread_mutex_lock(&mutex);
	while (turn != me) pthread_cond_wait(&turn_changed, &mutex);
	printf("thread %d: local %ld specific %d\n", me, local, *(int *)pthread_getspecific(key));
	turn++;
	pthread_cond_broadcast(&turn_changed);
	pthread_mutex_unlock(&mutex);
	return (void *)(long)(me * me);
}

static void *endless(void *argument) { for (;;) pthread_testcancel(); return argument; }

int main(void)
{
	pthread_t threads[THREADS];
	pthread_key_create(&key, destroy);
	pthread_barrier_init(&barrier, NULL, THREADS);
	sem_init(&seats, 0, 2);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i)) return 1;
	long squares = 0;
	for (int i = 0; i < THREADS; i++) { void *result; pthread_join(threads[i], &result); squares += (long)result; }
	printf("plain %ld atomic %ld squares %ld inits %d destroyed %d too many %d local %ld\n",
	       plain, atomic_sum, squares, inits, destroyed, too_many, local);
	pthread_t cancelled;
	void *how;
	pthread_create(&cancelled, NULL, endless, NULL);
	pthread_cancel(cancelled);
	pthread_join(cancelled, &how);
	puts(how == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
	return 0;
}
