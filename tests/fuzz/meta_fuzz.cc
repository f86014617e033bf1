// The metadata of profiles, recordings and combined profiles: writing and reading again must yield
// the same values.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "profile/combined.h"
#include "profile/meta.h"
#include "profile/recording_meta.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  jprof::profile::Damages damages;
  const std::string written = ToJson(jprof::profile::ParseMeta(text, damages));
  if (ToJson(jprof::profile::ParseMeta(written, damages)) != written) std::abort();
  if (const auto recording = jprof::profile::ParseRecordingMeta(text)) {
    if (jprof::profile::ParseRecordingMeta(ToJson(*recording)) != recording) std::abort();
  }
  const auto combined = jprof::profile::ParseCombined(text, damages);
  if (jprof::profile::ParseCombined(ToJson(combined), damages) != combined) std::abort();
  for (const auto& run : combined.runs) {
    if (run.profile.contains('/') || run.profile == "..") std::abort();  // outside the directory
  }
  return 0;
}
