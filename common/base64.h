// Encodes bytes as text (RFC 4648).
#pragma once

#include <string>
#include <string_view>

namespace jprof {

// Returns the bytes in the standard alphabet, padded, without line breaks. Texts of parts whose
// lengths are multiples of 3 can be appended to each other.
std::string Base64(std::string_view bytes);

}  // namespace jprof
