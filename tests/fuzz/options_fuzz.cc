// Agent strings: what was parsed is written in a form that is parsed and written as the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "options/agent_options.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto options = jprof::options::ParseAgentOptions(text, "");
  if (!options) return 0;
  const std::string written = ToString(*options);
  const auto again = jprof::options::ParseAgentOptions(written, "");
  if (!again || ToString(*again) != written) std::abort();
  if (again->triggers != options->triggers || again->lowered != options->lowered) std::abort();
  return 0;
}
