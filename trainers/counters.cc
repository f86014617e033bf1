// The native methods of Counters.java; they use the profiler's own counting code.
#include <jni.h>

#include <cstdio>
#include <cstdlib>
#include <ranges>
#include <string>
#include <vector>

#include "ptm/event_group.h"
#include "traced_part.h"

namespace {

using namespace jprof;

ptm::EventGroup group;

[[noreturn]] void GiveUp(const std::string& why) {
  fprintf(stderr, "jprof: the trainer's counters: %s\n", why.c_str());
  exit(1);
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Java_jprof_trainers_Counters_open(JNIEnv* env, jclass,
                                                                    jstring metrics) {
  const char* text = env->GetStringUTFChars(metrics, nullptr);
  std::vector<ptm::EventSpec> events;
  for (const auto part : std::views::split(std::string_view(text), '+')) {
    auto event = ptm::DecodeMetric(std::string_view(part));
    if (!event) GiveUp(event.error().message);
    events.push_back(*std::move(event));
  }
  env->ReleaseStringUTFChars(metrics, text);
  if (const auto failure = group.Open(events); failure.Failed())
    GiveUp("cannot count " + events[failure.event].name);
  return group.size();
}

extern "C" JNIEXPORT void JNICALL Java_jprof_trainers_Counters_read(JNIEnv* env, jclass,
                                                                    jlongArray values) {
  int64_t counts[ptm::kMaxEvents] = {};
  group.ReadAll(counts);
  jlong out[ptm::kMaxEvents];
  for (int i = 0; i < group.size(); ++i) out[i] = counts[i];
  env->SetLongArrayRegion(values, 0, group.size(), out);
}

extern "C" JNIEXPORT void JNICALL Java_jprof_trainers_Counters_begin(JNIEnv*, jclass) {
  trainers::BeginTracedPart();
}

extern "C" JNIEXPORT void JNICALL Java_jprof_trainers_Counters_end(JNIEnv*, jclass) {
  trainers::EndTracedPart();
}
