#include "model/tree/names.h"

#include <charconv>
#include <unordered_map>

#include "a2n/a2n.h"
#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

using profile::CleanText;
using profile::MethodName;

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Parses a link address as the methods file has it, "0x12ab". Returns 0 for other text.
uint64_t LinkAddress(std::string_view text) {
  uint64_t address = 0;
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::from_chars(text.data(), text.data() + text.size(), address, 16);
  return address;
}

// Returns "libc.so.6.malloc", or "libc.so.6+0x12ab" where no symbol is known.
std::string NativeName(const MethodName& parts, const a2n::Place& place) {
  const std::string path(parts.class_name);
  const std::string module = CleanText(BaseName(path.empty() ? "?" : path));
  if (place.outcome == a2n::Outcome::kSymbol) return module + "." + CleanText(place.symbol);
  return fmt::format("{}+0x{:x}", module, LinkAddress(parts.name));
}

// Returns "libc.so.6.malloc", or "malloc" where no module is known.
std::string SymbolName(const MethodName& parts) {
  const std::string module = CleanText(BaseName(parts.class_name));
  return (module.empty() ? "" : module + ".") + CleanText(parts.name);
}

// Returns the kind of a lock that is no monitor, or nothing of other classes.
std::string KindOfLock(const MethodName& parts) {
  return parts.signature.empty() ? "" : fmt::format(" ({})", CleanText(parts.signature));
}

}  // namespace

Names::Names(profile::Reader& reader) : methods_(reader.ReadMethods()), texts_(methods_.size()) {
  NameNativeFrames(reader.damages());
}

void Names::NameNativeFrames(profile::Damages& damages) {
  a2n::Resolver resolver;
  std::unordered_map<std::string, profile::MethodId>
      first;  // from module and name to the lowest id that has them
  for (uint32_t i = 1; i < texts_.size(); ++i) {
    const profile::MethodId method{i};
    const MethodName parts = methods_[method];
    if ((parts.flags & profile::kMethodCode) == 0) continue;
    if (canonical_.empty()) {
      canonical_.resize(texts_.size());
      for (uint32_t j = 0; j < canonical_.size(); ++j) canonical_[j] = profile::MethodId{j};
      unnamed_.resize(texts_.size());
    }
    if (!parts.name.starts_with("0x")) {  // an imported profile has the symbol itself
      texts_[i] = SymbolName(parts);
      continue;
    }
    const a2n::Place place =
        resolver.ResolveInFile(std::string(parts.class_name), LinkAddress(parts.name));
    texts_[i] = NativeName(parts, place) + KindOfLock(parts);
    unnamed_[i] = place.outcome != a2n::Outcome::kSymbol;
    const std::string key = std::string(parts.class_name) + '\n' + texts_[i];
    canonical_[i] = first.try_emplace(key, method).first->second;
  }
  // A missing file is the normal case of an old profile.
  for (const a2n::Complaint& complaint : resolver.Complaints()) {
    if (!complaint.missing) damages.Add("names of functions are missing", complaint.text);
  }
}

std::string Names::Made(const MethodName& parts) const {
  if (parts.flags & profile::kMethodClass) return CleanText(parts.class_name) + KindOfLock(parts);
  if (parts.flags & profile::kMethodLabel) return "label " + CleanText(parts.name);
  const std::string name = CleanText(parts.name) + CleanText(parts.signature);
  if (parts.class_name.empty() && parts.flags & profile::kMethodStub) return name;
  return CleanText(parts.class_name) + "." + name;
}

std::string_view Names::Of(profile::MethodId method) {
  const uint32_t index = IndexOf(method);
  if (index < texts_.size() && !texts_[index].empty()) return texts_[index];
  if (method == profile::kOverflowMethod) return "(overflow)";
  const MethodName parts = methods_[method];
  const bool named =
      !parts.name.empty() || parts.flags & (profile::kMethodClass | profile::kMethodLabel);
  if (index >= texts_.size() || !named) {
    std::string& text = unknown_[index];
    if (text.empty()) text = fmt::format("(unknown method {})", index);
    return text;
  }
  return texts_[index] = Made(parts);
}

std::string Names::Converted(NameForm form, profile::MethodId method) {
  const std::string_view name = Of(method);
  const uint16_t flags = methods_[method].flags;
  if (flags & profile::kMethodCode) return std::string(name);
  if (flags & profile::kMethodClass) return ClassIn(form, name);
  return flags & profile::kMethodNotJava ? std::string(name) : MethodIn(form, name);
}

std::string_view Names::In(NameForm form, profile::MethodId method) {
  const uint32_t index = IndexOf(method);
  if (index >= texts_.size()) return Of(method);
  std::vector<std::string>& made = converted_[static_cast<size_t>(form)];
  made.resize(texts_.size());
  if (made[index].empty()) made[index] = Converted(form, method);
  return made[index];
}

FrameKind Names::KindOf(profile::MethodId method, FrameKind in_node) const {
  if (method == profile::kOverflowMethod) return FrameKind::kOther;
  const uint16_t flags = methods_[method].flags;
  if (flags & profile::kMethodClass) return FrameKind::kClass;
  if (flags & profile::kMethodKernel) return FrameKind::kKernel;
  if (flags & profile::kMethodCode) return FrameKind::kFunction;
  if (flags & profile::kMethodStub) return FrameKind::kOther;
  if (flags & profile::kMethodLabel) return FrameKind::kLabel;
  return in_node;
}

char Names::LetterOf(profile::MethodId method, FrameKind in_node, bool static_letters) const {
  const FrameKind kind = KindOf(method, in_node);
  return Letter(kind, static_letters && kind == in_node && IsStatic(method));
}

std::string Names::Mark(profile::MethodId method, FrameKind in_node, bool static_letters) const {
  if (KindOf(method, in_node) == FrameKind::kClass) return "--";
  return {LetterOf(method, in_node, static_letters), ':'};
}

char KeyLetter(profile::MethodRef ref, const Names& names) {
  const profile::MethodId method = profile::MethodOf(ref);
  if (method == profile::kOverflowMethod) return Letter(FrameKind::kOther);
  return Letter(profile::TypeOf(ref), names.IsStatic(method));
}

}  // namespace jprof::model
