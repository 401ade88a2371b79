// Readers of documents that can be grown to any size; the first argument says of which kind. Each crashes on a record
// that it does not expect, as real ones do: a month of 23, a size of "-", a day that no month has.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const int days[13] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
static long total;

static char *whole(const char *path, size_t *length) {
  gzFile file = gzopen(path, "rb");
  if (!file) exit(2);
  size_t room = 1 << 16, have = 0;
  char *text = malloc(room + 1);
  for (int got; (got = gzread(file, text + have, room - have)) > 0;) {
    have += got;
    if (have == room) text = realloc(text, (room *= 2) + 1);
  }
  gzclose(file);
  text[have] = 0;
  *length = have;
  return text;
}

// The day of a year; crashes on a month that is none.
static int day_of(int month, int day) {
  int *table = malloc(sizeof days);
  memcpy(table, days, sizeof days);
  if (month < 1 || month > 12) *(volatile int *)(long)0 = month;
  int found = table[month - 1] + day;
  free(table);
  return found;
}

static void date(const char *text) {
  int year, month, day;
  if (sscanf(text, "%d-%d-%d", &year, &month, &day) == 3) total += 365 * year + day_of(month, day);
}

static char *next_line(char **at) {
  char *line = *at, *end = strchr(line, '\n');
  if (!*line) return NULL;
  if (end) *end = 0;
  *at = end ? end + 1 : line + strlen(line);
  return line;
}

// The fifth field of a line.
static void csv(char *line) {
  for (int field = 0; line; field++) {
    if (field == 4) date(line);
    line = strchr(line, ',');
    if (line) line++;
  }
}

// The last word of a line is a number.
static void size(char *line) {
  char *last = strrchr(line, ' ');
  if (!last) return;
  if (last[1] == '-') *(volatile int *)0 = 1;
  total += strtol(last + 1, NULL, 10);
}

// A header of a letter within a mailbox: the length of what follows.
static void mail(char *line) {
  if (strncmp(line, "Date: ", 6) == 0) date(line + 6);
}

static void sql(char *line) {
  if (strncmp(line, "INSERT INTO ", 12)) return;
  char *values = strstr(line, "VALUES (");
  for (char *at = values; at && (at = strchr(at, '\''));) {
    char *end = strchr(++at, '\'');
    if (!end) return;
    if (end - at == 10 && at[4] == '-') date(at);
    at = end + 1;
  }
}

static void ini(char *line) {
  if (strncmp(line, "born=", 5) == 0) date(line + 5);
}

static void json(char *text) {
  for (char *at = text; (at = strstr(at, "\"born\"")); at++) {
    char *value = strchr(at + 6, ':');
    if (value && (value = strchr(value, '"'))) date(value + 1);
  }
}

static void xml(char *text) {
  int depth = 0;
  for (char *at = text; (at = strchr(at, '<')); at++) {
    if (at[1] == '?') continue;
    depth += at[1] == '/' ? -1 : 1;
    if (depth == 3 && strncmp(at, "<born>", 6) == 0) date(at + 6);
  }
}

int main(int count, char **words) {
  if (count < 3) return 2;
  size_t length;
  const char *kind = words[1];
  char *text = whole(words[2], &length), *at = text, *line;
  if (!strcmp(kind, "json")) json(text);
  else if (!strcmp(kind, "xml")) xml(text);
  else
    while ((line = next_line(&at))) {
      if (!strcmp(kind, "csv")) csv(line);
      if (!strcmp(kind, "log") || !strcmp(kind, "loggz")) size(line);
      if (!strcmp(kind, "mbox")) mail(line);
      if (!strcmp(kind, "sql")) sql(line);
      if (!strcmp(kind, "ini")) ini(line);
    }
  printf("%ld\n", total);
  return 0;
}
