// Tries to reach a listener of the host by its port and by its path.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    const char *names[] = {"127.0.0.1", "0.0.0.0", "127.1.2.3", "10.0.0.1", "8.8.8.8"};
    for (int i = 0; i < 5; i++) {
        inet_pton(AF_INET, names[i], &to.sin_addr);
        int s = socket(AF_INET, SOCK_STREAM, 0);
        int r = connect(s, (void *)&to, sizeof to);
        printf("%s %d %s\n", names[i], r, i < 2 ? strerror(errno) : "");
        if (r == 0) return 1;
        close(s);
        s = socket(AF_INET, SOCK_DGRAM, 0);
        sendto(s, "hello", 5, 0, (void *)&to, sizeof to);
        close(s);
    }
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    strncpy(at.sun_path, argv[2], sizeof at.sun_path - 1);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(s, (void *)&at, sizeof at) == 0) return 2;
    printf("unix %s\n", strerror(errno));
    s = socket(AF_INET, SOCK_RAW, 255);
    printf("raw %d\n", s < 0);
    return 0;
}
