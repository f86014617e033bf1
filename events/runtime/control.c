// The control of an open trace from outside: a thread that waits at a socket in the trace's
// directory, so that events cost nothing more. events/control has the client and the protocol.
//
// The thread ends with the trace. A child that is forked has neither.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "events/runtime/internal.h"

enum { kMostRequest = 65536, kSeconds = 5 };

static struct {
  int fd;        // negative: there is none
  ino_t number;  // of the socket: the program may have closed it, and have another file there
  struct sockaddr_un address;
} own = {.fd = -1};

static int is_own_socket(void) {
  struct stat now;
  return fstat(own.fd, &now) == 0 && now.st_ino == own.number && S_ISSOCK(now.st_mode);
}

static int may_control(int client) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return 0;
  return peer.uid == geteuid() || peer.uid == 0;
}

static void print_level(FILE* reply, const jprof_events_event* event) {
  fprintf(reply, "event %d %u %s\n",
          JPROF_EVENTS_LEVEL(*event) & (JPROF_EVENTS_STATISTICS | JPROF_EVENTS_LOG), event->version,
          event->name);
}

static int list(FILE* reply) {
  pthread_mutex_lock(&jprof_events_lock);
  jprof_events_print_each(reply, print_level);
  const int count = (int)jprof_events_registered;
  pthread_mutex_unlock(&jprof_events_lock);
  return count;
}

static void execute(FILE* reply, const char* request) {
  int level = 0, pattern = 0, done;
  if (strcmp(request, "list") == 0) {
    done = list(reply);
  } else if (strcmp(request, "reset") == 0) {
    jprof_events_reset();
    done = 0;
  } else if (sscanf(request, "level %d %n", &level, &pattern) == 1 && pattern > 0) {
    done = jprof_events_set_level(request + pattern, level);
  } else {
    fprintf(reply, "error this library does not know the request\n");
    return;
  }
  if (done < 0)
    fprintf(reply, "error %s\n", jprof_events_error());
  else
    fprintf(reply, "ok %d\n", done);
}

// Receives what the client sends before it shuts its side down. Returns its size, or -1.
static ssize_t receive(int client, char* text, size_t most) {
  size_t size = 0;
  while (size < most) {
    const ssize_t got = recv(client, text + size, most - size, 0);
    if (got == 0) return (ssize_t)size;
    if (got < 0) return -1;
    size += (size_t)got;
  }
  return -1;
}

static void serve(int client) {
  static char text[kMostRequest];
  const struct timeval limit = {kSeconds, 0};
  setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const ssize_t size = receive(client, text, sizeof text - 1);
  char* answer = NULL;
  size_t answer_size = 0;
  FILE* reply = size < 0 ? NULL : open_memstream(&answer, &answer_size);
  if (reply == NULL) return;
  text[size] = 0;
  char* rest = text;
  for (char* line; (line = strsep(&rest, "\n")) != NULL;)
    if (*line != 0) execute(reply, line);
  fclose(reply);
  for (size_t sent = 0; sent < answer_size;) {
    const ssize_t put = send(client, answer + sent, answer_size - sent, MSG_NOSIGNAL);
    if (put <= 0) break;
    sent += (size_t)put;
  }
  free(answer);
}

static void* run(void* unused) {
  prctl(PR_SET_NAME, "jprof events");
  while (is_own_socket()) {
    const int client = accept4(own.fd, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0 && errno != ECONNABORTED && errno != EINTR) break;
    if (client < 0) continue;
    if (may_control(client)) serve(client);
    close(client);
  }
  if (is_own_socket()) close(own.fd);
  return unused;
}

// The thread handles no signals of the program.
static int start_thread(void) {
  sigset_t all, old;
  pthread_t thread;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return 0;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  const int error = pthread_create(&thread, &attributes, run, NULL);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  pthread_attr_destroy(&attributes);
  return error == 0;
}

void jprof_events_begin_control(void) {
  own.address.sun_family = AF_UNIX;
  const int size = snprintf(own.address.sun_path, sizeof own.address.sun_path,
                            "%s/" JPROF_EVENTS_CONTROL, jprof_events_the_trace.directory);
  if (size < 0 || (size_t)size >= sizeof own.address.sun_path) return;
  own.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct stat made;
  if (own.fd >= 0 && fstat(own.fd, &made) == 0 &&
      bind(own.fd, (struct sockaddr*)&own.address, sizeof own.address) == 0) {
    own.number = made.st_ino;
    if (listen(own.fd, 8) == 0 && start_thread()) return;
    unlink(own.address.sun_path);
  }
  jprof_events_forget_control();
}

void jprof_events_end_control(void) {
  if (own.fd < 0) return;
  unlink(own.address.sun_path);
  shutdown(own.fd, SHUT_RDWR);  // the thread ends
}

void jprof_events_forget_control(void) {
  if (own.fd >= 0 && is_own_socket()) close(own.fd);
  own.fd = -1;
}
