#include "jprof/weave/weave.h"

#include <array>
#include <optional>
#include <utility>

#include "jprof/weave/big_endian.h"
#include "jprof/weave/class_file.h"
#include "jprof/weave/constants.h"
#include "jprof/weave/method_code.h"
#include "jprof/weave/rewrite.h"

namespace jprof::weave {
namespace {

bool IsEmptyFinalizer(const MethodInfo& method, const CodeAttribute& code) {
  return method.name == "finalize" && method.descriptor == "()V" && code.code.size() == 1;
}

// Weaves one class. The bytes behind the constant pool are made in body_. What is not changed is
// copied in large pieces.
class ClassWeaver {
 public:
  ClassWeaver(const ClassFile& file, const Ids& ids)
      : file_(file), constants_(file.pool), code_(file, constants_, ids), copied_(file.after_pool) {
    woven_.class_name = file.name;
    body_.Reserve(file.bytes.size() - file.after_pool + file.bytes.size() / 2);
  }

  // With `rewrite` methods that are to be left are read and written as well.
  Result<void> Methods(const Decide& decide, bool rewrite);
  Woven Finish();

 private:
  Result<void> WeaveMethod(const MethodInfo& method, const Decide& decide, bool rewrite);
  Result<void> Change(const MethodInfo& method, const CodeAttribute& code,
                      const Decision& decision);
  Result<std::optional<SkipReason>> Write(const MethodInfo& method, const CodeAttribute& code,
                                          const Decision& wanted);
  size_t OffsetOf(std::string_view part) const {
    return static_cast<size_t>(part.data() - file_.bytes.data());
  }

  const ClassFile& file_;
  Constants constants_;
  MethodCode code_;
  Output body_;
  size_t copied_;  // up to this offset of the class file body_ is complete
  bool changed_ = false;
  Woven woven_;
};

Result<void> ClassWeaver::Methods(const Decide& decide, bool rewrite) {
  ByteCursor cursor(file_.bytes.substr(file_.methods));
  for (uint32_t methods = ReadU2(cursor); methods > 0; --methods) {
    const auto method = ReadMethod(cursor, file_.pool);
    if (!method) return std::unexpected(method.error());
    if (method->code.contents.empty()) continue;
    if (auto done = WeaveMethod(*method, decide, rewrite); !done) {
      return Fail("malformed class file: method {}{}: {}", method->name, method->descriptor,
                  done.error().message);
    }
  }
  SkipAttributes(cursor);
  if (!cursor.ok()) return Fail("malformed class file: its attributes are cut off");
  if (!cursor.empty()) return Fail("malformed class file: {} bytes at its end", cursor.left());
  return {};
}

Result<void> ClassWeaver::WeaveMethod(const MethodInfo& method, const Decide& decide,
                                      bool rewrite) {
  const auto code = ReadCode(method.code.contents);
  if (!code) return std::unexpected(code.error());
  const Method shown = {.class_name = file_.name,
                        .name = method.name,
                        .descriptor = method.descriptor,
                        .access = method.access,
                        .code_bytes = static_cast<uint32_t>(code->code.size()),
                        .is_intrinsic = method.is_intrinsic};
  const Decision decision = rewrite ? Decision{} : decide(shown);
  if (decision.action == Action::kLeave && !decision.answers && !decision.label && !rewrite)
    return {};
  return Change(method, *code, decision);
}

Result<void> ClassWeaver::Change(const MethodInfo& method, const CodeAttribute& code,
                                 const Decision& decision) {
  const auto skip = [&](SkipReason why) {
    woven_.skipped.push_back({method.name, method.descriptor, decision.id, why});
  };
  if (decision.action != Action::kLeave && IsEmptyFinalizer(method, code)) {
    skip(SkipReason::kEmptyFinalizer);
    return {};
  }
  const size_t start = OffsetOf(method.code.whole);
  body_.Bytes(file_.bytes.substr(copied_, start - copied_));
  copied_ = start;
  const auto skipped = Write(method, code, decision);
  if (!skipped) return std::unexpected(skipped.error());
  if (const std::optional<SkipReason>& why = *skipped; why) {
    skip(*why);
    return {};
  }
  copied_ = start + method.code.whole.size();
  changed_ = true;
  woven_.counted += decision.action == Action::kCount;
  woven_.announced += decision.action == Action::kAnnounce;
  return {};
}

// Writes nothing if the method is skipped. One that would become too large by sites or by counting
// allocations only counts its calls.
Result<std::optional<SkipReason>> ClassWeaver::Write(const MethodInfo& method,
                                                     const CodeAttribute& code,
                                                     const Decision& wanted) {
  const size_t before = body_.size();
  for (Decision decision = wanted;;) {
    auto skipped = code_.Write(method, code, decision, body_);
    if (skipped && !*skipped) {
      woven_.without_sites += wanted.sites && !decision.sites;
      return skipped;
    }
    body_.Truncate(before);
    const bool is_smaller =
        std::exchange(decision.sites, false) || std::exchange(decision.allocations, false);
    if (!skipped || !is_smaller) return skipped;
  }
}

Woven ClassWeaver::Finish() {
  if (!changed_) return std::move(woven_);
  body_.Bytes(file_.bytes.substr(copied_));
  const std::string_view pool = file_.pool.bytes();
  Output out;
  out.Reserve(10 + pool.size() + constants_.appended().size() + body_.size());
  out.Bytes(file_.bytes.substr(0, 8));
  out.U2(constants_.count());
  out.Bytes(pool);
  out.Bytes(constants_.appended());
  out.Bytes(body_.view());
  woven_.bytes = out.Take();
  return std::move(woven_);
}

Result<Woven> WeaveClass(std::span<const uint8_t> class_file, const Decide& decide, const Ids& ids,
                         bool rewrite) {
  if (class_file.size() > kLargestClassFile)
    return Fail("the class file has {} bytes, more than {}", class_file.size(), kLargestClassFile);
  const auto file = ReadClassFile(class_file);
  if (!file) return std::unexpected(file.error());
  ClassWeaver weaver(*file, ids);
  if (auto done = weaver.Methods(decide, rewrite); !done) return std::unexpected(done.error());
  return weaver.Finish();
}

}  // namespace

std::string_view NameOf(SkipReason reason) {
  constexpr std::array<std::string_view, kSkipReasons> kNames = {
      "too large", "would not be compiled", "a jump is too far", "constant pool full",
      "empty finalizer"};
  return kNames[static_cast<size_t>(reason)];
}

Result<Woven> Weave(std::span<const uint8_t> class_file, const Decide& decide, const Ids& ids) {
  return WeaveClass(class_file, decide, ids, false);
}

Result<std::vector<uint8_t>> RewriteUnchanged(std::span<const uint8_t> class_file) {
  auto woven = WeaveClass(class_file, nullptr, {}, true);
  if (!woven) return std::unexpected(woven.error());
  if (woven->bytes.empty()) woven->bytes.assign(class_file.begin(), class_file.end());
  return std::move(woven->bytes);
}

}  // namespace jprof::weave
