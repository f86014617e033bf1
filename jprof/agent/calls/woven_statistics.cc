#include "jprof/agent/calls/woven_statistics.h"

#include <fmt/format.h>

#include "jprof/agent/vm/jvmti_env.h"

namespace jprof::agent {

void WovenStatistics::AddWoven(const weave::Woven& woven) {
  ++classes_;
  methods_ += woven.counted;
  siteless_ += woven.without_sites;
}

// HotSpot calls no empty finalizer, so no call of one is missing.
void WovenStatistics::AddSkipped(const weave::Woven& woven, std::string_view class_name) {
  for (const weave::SkippedMethod& method : woven.skipped) {
    ++skipped_;
    if (method.why != weave::SkipReason::kEmptyFinalizer)
      uncounted_->AddMethod(class_name, method.name, method.descriptor);
  }
}

void WovenStatistics::AddFailed(std::string_view class_name) {
  ++failed_;
  if (!ended_) uncounted_->AddClass(class_name);
}

// The VM has tried to link the class: if that failed, none of its methods can run, and no call is
// missing.
void WovenStatistics::AddRefused(jvmtiEnv* jvmti, jclass refused) {
  jint status = 0;
  JvmtiString signature(jvmti);
  if (jvmti->GetClassStatus(refused, &status) == JVMTI_ERROR_NONE &&
      (status & JVMTI_CLASS_STATUS_PREPARED) == 0)
    return;
  const bool named =
      jvmti->GetClassSignature(refused, signature.out(), nullptr) == JVMTI_ERROR_NONE;
  AddFailed(named ? InternalName(signature.view()) : kUnnamedClass);
}

std::string WovenStatistics::Summary() const {
  std::string text = fmt::format(
      "{} classes with {} methods were woven, in {:.1f} ms; {} methods were left as they are, {} "
      "classes were refused",
      classes_.load(), methods_.load(), static_cast<double>(nanoseconds_.load()) / 1e6,
      skipped_.load(), failed_.load());
  if (const uint64_t siteless = siteless_.load(); siteless != 0)
    text += fmt::format(
        "; {} methods have no call sites: they would become too large, or their class has no "
        "space for constants",
        siteless);
  return text;
}

}  // namespace jprof::agent
