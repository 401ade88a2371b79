/* Own code: a small HTTP server with the kind of bug that ghttpd 1.4 had (CVE-2002-1904): a line of its log is
   made on the stack, from what the client sent, without a bound. small-httpd PORT [fork|single] [FOLDER]
   serves clients one after the other, each in a process of its own unless it is told `single`. */
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct request { char method[16], path[512], agent[256], user[128]; int length; };

static const char *field(const char *text, const char *name) {
  size_t size = strlen(name);
  for(const char *line = strchr(text, '\n'); line; line = strchr(line + 1, '\n'))
    if(!strncasecmp(line + 1, name, size) && line[1 + size] == ':') return line + 2 + size + strspn(line + 2 + size, " ");
  return 0; }
/* Up to the end of the line, or of the word. */
static void take(char *out, size_t cap, const char *from, int word) {
  size_t n = 0;
  if(from) while(from[n] && from[n] != '\r' && from[n] != '\n' && !(word && from[n] == ' ') && n + 1 < cap) { out[n] = from[n]; n++; }
  out[n] = 0; }
static int leaves(const char *path) {
  for(; *path; path++) if(path[0] == '/' && path[1] == '.' && path[2] == '.' && path[3] == '/') return 1;
  return 0; }
static int value(int c) {
  if(c >= 'A' && c <= 'Z') return c - 'A';
  if(c >= 'a' && c <= 'z') return c - 'a' + 26;
  if(c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1; }
/* Who it is, from `Authorization: Basic`. */
static void account(char *out, size_t cap, const char *from) {
  size_t n = 0; unsigned bits = 0; int have = 0;
  if(!from || strncasecmp(from, "Basic ", 6)) { strcpy(out, "-"); return; }
  for(from += 6; value(*from) >= 0 && n + 1 < cap; from++) {
    bits = bits << 6 | value(*from); have += 6;
    if(have >= 8) { have -= 8; out[n++] = bits >> have & 255; } }
  out[n] = 0; char *colon = strchr(out, ':'); if(colon) *colon = 0; }
static int parse(struct request *r, const char *text) {
  take(r->method, sizeof r->method, text, 1);
  const char *path = strchr(text, ' ');
  if(!path || (strcmp(r->method, "GET") && strcmp(r->method, "HEAD") && strcmp(r->method, "POST"))) return 501;
  path++; take(r->path, sizeof r->path, path, 1);
  path = strchr(path, ' ');
  if(!path || strncmp(path + 1, "HTTP/1.", 7)) return 400;
  if(r->path[0] != '/' || leaves(r->path)) return 403;
  take(r->agent, sizeof r->agent, field(text, "User-Agent"), 0);
  account(r->user, sizeof r->user, field(text, "Authorization"));
  const char *length = field(text, "Content-Length");
  r->length = length ? atoi(length) : 0;
  return field(text, "Host") ? 200 : 400; }
static void note(const char *format, ...) {
  char line[200]; va_list list;
  va_start(list, format); vsprintf(line, format, list); va_end(list);           /* the bug */
  fprintf(stderr, "%s\n", line); }
static void answer(int to, int status, const char *text) {
  char head[256]; int n = sprintf(head, "HTTP/1.1 %d %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", status, status == 200 ? "OK" : "Error", strlen(text));
  write(to, head, n); write(to, text, strlen(text)); }
static void serve(int with) {
  static char text[8192]; size_t n = 0; ssize_t more;
  while(n + 1 < sizeof text && (more = read(with, text + n, sizeof text - 1 - n)) > 0) {
    n += more; if(n >= 4 && !memcmp(text + n - 4, "\r\n\r\n", 4)) break; }
  text[n] = 0;
  struct request r; memset(&r, 0, sizeof r);
  int status = parse(&r, text);
  if(status == 200) note("%s %s \"%s\" %s %d", r.user, r.method, r.agent, r.path, status);
  answer(with, status, status == 200 ? "<p>Hello.\n" : "<p>No.\n"); }
int main(int argc, char **argv) {
  int port = argc > 1 ? atoi(argv[1]) : 8080, single = argc > 2 && !strcmp(argv[2], "single"), yes = 1;
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_ANY)};
  int server = socket(AF_INET, SOCK_STREAM, 0);
  signal(SIGPIPE, SIG_IGN);
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if(server < 0 || bind(server, (void *)&here, sizeof here) || listen(server, 16)) { perror("small-httpd"); return 2; }
  for(;;) {
    int with = accept(server, 0, 0);
    if(with < 0) continue;
    if(single) serve(with);
    else if(!fork()) { close(server); serve(with); close(with); _exit(0); }
    close(with);
    while(waitpid(-1, 0, WNOHANG) > 0) ; } }
