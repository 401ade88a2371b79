// Threads, children, signals and system calls that look at the input: everything from which a run
// that stops before each test must find its way back.

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned char in[32];
static volatile int signals;
static int found[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void handle(int number) {
    signals += number;
}

static void *search(void *which) {
    int k = *(int *)which;
    for (int i = 0; i < 8; i++) {
        pthread_mutex_lock(&lock);
        if (in[8 * k + i] == 'x')
            found[k] += i + 1;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    if (read(0, in, sizeof in) < 0)
        return 2;
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    for (int k = 0; k < 2; k++)
        pthread_create(&threads[k], 0, search, &numbers[k]);
    for (int k = 0; k < 2; k++)
        pthread_join(threads[k], 0);

    signal(SIGUSR1, handle);
    unsigned sum = 0;
    for (int i = 16; i < 20; i++) {
        sum = sum * 31 + in[i];
        if (in[i] > 'm')
            raise(SIGUSR1);
    }

    char name[8] = "/dev/";
    name[5] = in[20];
    name[6] = in[21];
    int known = access(name, F_OK) == 0;

    pid_t child = fork();
    if (child == 0) {
        int code = 0;
        for (int i = 22; i < 26; i++)
            if (in[i] != '-')
                code = 2 * code + 1;
        _exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);

    void *buffer = malloc(in[26] % 7 + 1);
    memset(buffer, in[27], in[26] % 7 + 1);
    printf("%d %d %d %u %d %d\n", found[0], found[1], signals, sum & 7, known, status);
    fflush(stdout);
    if (found[0] > 9 && WEXITSTATUS(status) == 3 && *(char *)buffer == 'q')
        abort();
    free(buffer);
    return 0;
}
