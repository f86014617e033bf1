/* Sets labels in known contexts, in functions with hooks (labels.py). */
#include <jprof-label.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTION __attribute__((noinline))

static volatile int sink;
static jmp_buf back;

FUNCTION static void find(int id) { sink += id; }
FUNCTION static void leaf(void) { ++sink; }

FUNCTION static void request(int kind) {
  char text[32];
  snprintf(text, sizeof text, "GET /%d", kind);
  jprof_label(text);
  for (int i = 0; i <= kind; ++i) find(i);
}

FUNCTION static void *requests(void *count) {
  for (long i = 0; i < (long)count; ++i) request((int)(i % 5));
  return NULL;
}

FUNCTION static void inner(void) {
  jprof_label("inner");
  leaf();
}

FUNCTION static void cart(void) {
  jprof_label("GET /cart");
  find(0);
  inner();
  leaf();
  jprof_label("POST /cart");
  leaf();
  jprof_label_end();
  leaf();
}

FUNCTION static void jumps(void) {
  jprof_label("jumps");
  longjmp(back, 1);
}

FUNCTION static void ends(void) {
  jprof_label("ends");
  if (setjmp(back) == 0) jumps();
  leaf();
}

int main(int count, char **words) {
  const long times = count > 1 ? atol(words[1]) : 1;
  pthread_t threads[8];
  for (int i = 0; i < 8; ++i) pthread_create(&threads[i], NULL, requests, (void *)times);
  for (int i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
  for (long i = 0; i < times; ++i) cart();
  for (long i = 0; i < times; ++i) ends();
  puts("done");
  return 0;
}
