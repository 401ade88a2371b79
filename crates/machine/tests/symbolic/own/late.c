/* A program that loads a library when it runs already; and, as LIBRARY, the library, which has a
 * comparison of its own under the usual name. */
#ifdef LIBRARY
int strcmp(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}
int matches(const char *text) {
    return strcmp(text, "opal") == 0;
}
#else
#include <dlfcn.h>
#include <unistd.h>
int main(int count, char **words) {
    char text[5] = {0};
    if (read(0, text, 4) != 4) return 9;
    void *library = dlopen(words[1], RTLD_NOW);
    if (!library) return 8;
    int (*matches)(const char *) = dlsym(library, "matches");
    return matches(text) ? 0 : 1;
}
#endif
