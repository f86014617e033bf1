#include "calibrate/model/probes.h"

#include <algorithm>

namespace jprof::calibrate {

Kept KeptOf(std::string_view signature, bool without_this) {
  const size_t end = signature.find(')');
  if (!signature.starts_with('(') || end == signature.npos || end + 1 >= signature.size())
    return {};
  size_t arguments = without_this ? 0 : 1;
  for (size_t at = 1; at < end; ++at) {
    while (at < end && signature[at] == '[') ++at;
    if (signature[at] == 'L') at = std::min(signature.find(';', at), end);
    ++arguments;
  }
  return {static_cast<uint8_t>(std::min<size_t>(arguments, 255)), signature[end + 1] != 'V'};
}

}  // namespace jprof::calibrate
