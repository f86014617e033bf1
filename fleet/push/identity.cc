#include "fleet/push/identity.h"

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid.hpp>
#include <cstring>

namespace jprof::fleet {

using profile::MethodName;

Fingerprint Below(const Fingerprint& parent, std::string_view name) {
  boost::uuids::uuid space;
  std::memcpy(space.data, parent.bytes.data(), parent.bytes.size());
  const boost::uuids::uuid made =
      boost::uuids::name_generator_sha1(space)(name.data(), name.size());
  Fingerprint out;
  std::memcpy(out.bytes.data(), made.data, out.bytes.size());
  return out;
}

std::string Frame::Key() const {
  const auto method = static_cast<uint16_t>(name.flags & profile::kMethodNotJava);
  std::string key(1, static_cast<char>(kind));
  key += static_cast<char>(method & 0xff);
  key += static_cast<char>(method >> 8);
  for (const std::string_view part : {name.class_name, name.name, name.signature})
    key.append(part).push_back('\0');
  return key;
}

uint64_t Frame::Number() const {
  uint64_t number = 0;
  const Fingerprint made = Below({}, Key());
  std::memcpy(&number, made.bytes.data(), sizeof number);
  return number;
}

std::string KeyBelow(const Frame& frame, bool sampled, FrameKind type) {
  std::string key = frame.Key();
  if (sampled) key += static_cast<char>(type);
  return key;
}

Frame FrameOf(const profile::MergedTree& tree, uint32_t context, std::string_view thread) {
  if (tree.parent(context) == profile::kNoRecord)
    return {FrameClass::kThread, MethodName{"", thread, "", 0}};
  const profile::MethodId method = MethodOf(tree.ref(context));
  if (method == profile::kOverflowMethod) return {FrameClass::kOverflow, {}};
  return {FrameClass::kMethod, tree.name(method)};
}

}  // namespace jprof::fleet
