/* Programs that a recorder has to leave as they are. The first argument chooses one. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int parse(const char *text) {
    if (strstr(text, "boom"))
        *(volatile int *)8 = 1;
    return (int)strlen(text);
}

static int read_file(const char *path) {
    static char text[1 << 16];
    FILE *file = path ? fopen(path, "r") : stdin;
    if (!file)
        return 3;
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = 0;
    printf("%d\n", parse(text));
    return 0;
}

/* Changes the file that it has read, and fails then. */
static int rewrite(const char *path) {
    char text[4096] = "";
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, sizeof text, file))
        return 3;
    fclose(file);
    file = fopen(path, "w");
    fputs("after", file);
    fclose(file);
    parse(text);
    return 0;
}

static int handle(int connection, const char *how) {
    char text[512] = "";
    ssize_t size = 0;
    if (!strcmp(how, "recv")) {
        size = recv(connection, text, 4, MSG_PEEK);
        size = recv(connection, text, sizeof text - 1, 0);
    } else if (!strcmp(how, "readv")) {
        struct iovec parts[2] = {{text, 3}, {text + 3, sizeof text - 4}};
        size = readv(connection, parts, 2);
    } else if (!strcmp(how, "dup")) {
        int other = dup2(connection, 77);
        size = read(other, text, sizeof text - 1);
        close(other);
    } else {
        size = read(connection, text, sizeof text - 1);
    }
    if (size > 0)
        parse(text);
    return write(connection, "ok\n", 3) != 3;
}

static int serve(int rounds, const char *how, int forks) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(listener, (void *)&address, size) || listen(listener, 9))
        return 4;
    getsockname(listener, (void *)&address, &size);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (int round = 0; round < rounds; round++) {
        int connection = accept(listener, 0, 0);
        if (forks) {
            if (!fork())
                _exit(handle(connection, how));
            close(connection);
            wait(0);
        } else {
            handle(connection, how);
            close(connection);
        }
    }
    return 0;
}

static void *thread(void *path) {
    read_file(path);
    return 0;
}

static volatile sig_atomic_t got;
static void handler(int number) { got = number; }

/* Says that it is ready, waits for signals, and tells which came. */
static int signals(int count) {
    struct sigaction action = {.sa_handler = handler};
    sigset_t all, none;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &none);
    sigaction(SIGTERM, &action, 0);
    sigaction(SIGUSR1, &action, 0);
    sigaction(SIGINT, &action, 0);
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < count; i++) {
        sigsuspend(&none);
        printf("signal %d\n", (int)got);
        fflush(stdout);
    }
    return 9;
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    const char *argument = count > 2 ? words[2] : 0;
    if (!strcmp(what, "file"))
        return read_file(argument);
    if (!strcmp(what, "stdin"))
        return read_file(0);
    if (!strcmp(what, "rewrite"))
        return rewrite(argument);
    if (!strcmp(what, "serve"))
        return serve(atoi(argument), words[3], count > 4);
    if (!strcmp(what, "signals"))
        return signals(atoi(argument));
    if (!strcmp(what, "status"))
        return atoi(argument);
    if (!strcmp(what, "raise"))
        return raise(atoi(argument));
    if (!strcmp(what, "terminal"))
        return printf("%d%d%d\n", isatty(0), isatty(1), isatty(2)) < 0;
    if (!strcmp(what, "thread")) {
        pthread_t other;
        pthread_create(&other, 0, thread, (void *)argument);
        pthread_join(other, 0);
        return 0;
    }
    if (!strcmp(what, "say")) {
        printf("total: %s\n", argument);
        return 0;
    }
    return 99;
}
