// The metadata of profiles and recordings: writing and reading again must yield the same values.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "profile/files/meta.h"
#include "profile/files/recording_meta.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  jprof::profile::Damages damages;
  const std::string written = ToJson(jprof::profile::ParseMeta(text, damages));
  if (ToJson(jprof::profile::ParseMeta(written, damages)) != written) std::abort();
  if (const auto recording = jprof::profile::ParseRecordingMeta(text)) {
    if (jprof::profile::ParseRecordingMeta(ToJson(*recording)) != recording) std::abort();
  }
  return 0;
}
