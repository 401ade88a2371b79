/* A small parser of JSON lines, on which other engines were measured (`cargo xtask bench trace`).
 * One record a line; it adds up "amt" and measures "name". A record whose "name" is not a string
 * leaves a null pointer that is dereferenced. It reads standard input, or the file that the first
 * argument names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>
enum kind { NUL, BOOL, NUM, STR, ARR, OBJ };
struct val {
    enum kind k;
    double num; char *str; size_t len;
    struct val *child, *next; char *key;
};
static const char *p, *e;
static int line = 1;
static void fail(const char *m) { fprintf(stderr, "line %d: %s\n", line, m); exit(1); }
static void ws(void) { while (p < e && *p != '\n' && isspace((unsigned char)*p)) p++; }
static struct val *mk(enum kind k) {
    struct val *v = calloc(1, sizeof *v);
    if (!v) fail("oom");
    v->k = k; return v;
}
static int hex4(const char *s) {
    int i, r = 0;
    for (i = 0; i < 4; i++) {
        int c = (unsigned char)s[i];
        if (!isxdigit(c)) fail("bad \\u escape");
        r = r * 16 + (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return r;
}
static char *string(size_t *len) {
    const char *s = ++p; char *o, *w; size_t n = 0;
    while (p < e && *p != '"') {
        if (*p == '\\') p++;
        if (p < e && (unsigned char)*p < 0x20) fail("control character in string");
        p++; n++;
    }
    if (p >= e) fail("unterminated string");
    o = w = malloc(n + 1);
    if (!o) fail("oom");
    while (s < p) {
        if (*s != '\\') { *w++ = *s++; continue; }
        switch (s[1]) {
        case 'n': *w++ = '\n'; s += 2; break;
        case 't': *w++ = '\t'; s += 2; break;
        case 'r': *w++ = '\r'; s += 2; break;
        case '"': case '\\': case '/': *w++ = s[1]; s += 2; break;
        case 'u': if (p - s < 6) fail("short \\u");
                  *w++ = (char)hex4(s + 2); s += 6; break;
        default: fail("bad escape");
        }
    }
    *w = 0; *len = w - o; p++;
    return o;
}
static double number(void) {
    double r = 0, f = 0.1; int neg = 0, dig = 0;
    if (*p == '-') { neg = 1; p++; }
    while (p < e && *p >= '0' && *p <= '9') { r = r * 10 + (*p++ - '0'); dig++; }
    if (!dig) fail("expected a digit");
    if (p < e && *p == '.')
        for (p++; p < e && *p >= '0' && *p <= '9'; p++, f /= 10) r += f * (*p - '0');
    return neg ? -r : r;
}
static struct val *value(int depth) {
    struct val *v, **tail;
    if (depth > 20) fail("too deep");
    ws();
    if (p >= e) fail("unexpected end");
    switch (*p) {
    case '"': v = mk(STR); v->str = string(&v->len); return v;
    case '{': case '[': {
        int obj = *p == '{'; char close = obj ? '}' : ']';
        v = mk(obj ? OBJ : ARR); tail = &v->child; p++; ws();
        if (p < e && *p == close) { p++; return v; }
        for (;;) {
            char *key = NULL; size_t kl; struct val *c;
            ws();
            if (obj) {
                if (p >= e || *p != '"') fail("expected a key");
                key = string(&kl); ws();
                if (p >= e || *p != ':') fail("expected ':'");
                p++;
            }
            c = value(depth + 1); c->key = key; *tail = c; tail = &c->next;
            ws();
            if (p >= e) fail("unexpected end");
            if (*p == ',') { p++; continue; }
            if (*p == close) { p++; return v; }
            fail("expected ',' or close");
        }
    }
    case 't': if (e - p >= 4 && !memcmp(p, "true", 4)) { p += 4; v = mk(BOOL); v->num = 1; return v; } break;
    case 'f': if (e - p >= 5 && !memcmp(p, "false", 5)) { p += 5; return mk(BOOL); } break;
    case 'n': if (e - p >= 4 && !memcmp(p, "null", 4)) { p += 4; return mk(NUL); } break;
    default:
        if (*p == '-' || (*p >= '0' && *p <= '9')) { v = mk(NUM); v->num = number(); return v; }
    }
    fail("unexpected character");
    return NULL;
}
static struct val *get(struct val *o, const char *key) {
    struct val *c;
    for (c = o->child; c; c = c->next) if (!strcmp(c->key, key)) return c;
    return NULL;
}
static void drop(struct val *v) {
    while (v) { struct val *n = v->next; drop(v->child); free(v->str); free(v->key); free(v); v = n; }
}
int main(int argc, char **argv) {
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : stdin;
    size_t cap = 4096, n = 0, r, namelen = 0; char *buf = malloc(cap);
    long recs = 0; double total = 0;
    if (!f || !buf) return 2;
    while ((r = fread(buf + n, 1, cap - n, f)) > 0) {
        n += r;
        if (n == cap && !(buf = realloc(buf, cap *= 2))) return 2;
    }
    p = buf; e = buf + n;
    while (p < e) {
        struct val *o, *amt;
        ws();
        if (p < e && *p == '\n') { p++; line++; continue; }
        if (p >= e) break;
        o = value(0);
        if (o->k != OBJ) fail("record is not an object");
        if ((amt = get(o, "amt")) && amt->k == NUM) total += amt->num;
        struct val *nm = get(o, "name");
        const char *s = nm ? nm->str : NULL;          /* NULL unless a string */
        if (*s >= 'A' && *s <= 'Z') namelen += nm->len; /* the bug: no check */
        drop(o); recs++;
        ws();
        if (p < e && *p != '\n') fail("trailing characters");
    }
    printf("%ld records, total %.2f, names %zu\n", recs, total, namelen);
    return 0;
}
