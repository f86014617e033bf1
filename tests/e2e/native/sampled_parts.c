// Native code of the programs SampledParts, SampledStorm and SampledSignals.
#define _GNU_SOURCE
#include <jni.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// Keeps its frame; a function that its caller enters by a jump would not.
static __attribute__((noinline)) jlong Inner(jlong n) {
  unsigned long long x = (unsigned long long)n | 1;
  for (jlong i = 0; i < n; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return (jlong)x;
}

JNIEXPORT jlong JNICALL Java_SampledParts_nativeSpin(JNIEnv* env, jclass cls, jlong n) {
  (void)env, (void)cls;
  return Inner(n) + 1;
}

// For the program SampledStorm: while it runs, the collectors must not move the array.
JNIEXPORT jlong JNICALL Java_SampledStorm_critical(JNIEnv* env, jclass cls, jintArray array) {
  (void)cls;
  const jsize length = (*env)->GetArrayLength(env, array);
  jint* items = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
  if (items == NULL) return -1;
  jlong sum = 0;
  for (jsize i = 0; i < length; ++i) sum += items[i];
  (*env)->ReleasePrimitiveArrayCritical(env, array, items, JNI_ABORT);
  return sum;
}

static void Ignored(int number) { (void)number; }

// For the program SampledSignals: as a library does that comes later and samples by itself.
JNIEXPORT void JNICALL Java_SampledSignals_take(JNIEnv* env, jclass cls, jint number) {
  (void)env, (void)cls;
  struct sigaction action = {.sa_handler = Ignored, .sa_flags = SA_RESTART};
  sigaction(number, &action, NULL);
}

JNIEXPORT void JNICALL Java_SampledSignals_block(JNIEnv* env, jclass cls, jint number) {
  (void)env, (void)cls;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
}

// The lowest number of the profiler's descriptors.
static int Least(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur / 2 < 4096 ? (int)limit.rlim_cur / 2 : 4096;
}

// For the program SampledSignals: closes all descriptors that it does not know, as a daemon does.
// Its own file gets the lowest number and those that the profiler had.
JNIEXPORT void JNICALL Java_SampledSignals_close(JNIEnv* env, jclass cls, jint first) {
  (void)env, (void)cls;
  close_range((unsigned)first, ~0u, 0);
  const int file = memfd_create("mine", 0);
  if (write(file, "mine!\n", 6) != 6) return;
  for (int i = 0; i < 64; ++i) dup2(file, Least() + i);
}

// Returns how many of these descriptors refer to the file, which is as it was written.
JNIEXPORT jint JNICALL Java_SampledSignals_kept(JNIEnv* env, jclass cls) {
  (void)env, (void)cls;
  jint kept = 0;
  for (int i = 0; i < 64; ++i) {
    struct stat status;
    const int file = Least() + i;
    kept += fstat(file, &status) == 0 && status.st_size == 6 && lseek(file, 0, SEEK_CUR) == 6;
  }
  return kept;
}
