#include "jprof/agent/labels/label_arguments.h"

#include <fmt/format.h>

#include <utility>

#include "common/result.h"
#include "jprof/setup/print_message.h"
#include "jprof/weave/descriptor.h"
#include "profile/files/printable_text.h"

namespace jprof::agent {
namespace {

// Returns how the text of a value of this type is made, or nothing if it has none that is useful.
std::optional<weave::LabelSource> SourceOf(std::string_view type) {
  if (type == "Ljava/lang/String;") return weave::LabelSource::kText;
  if (type.starts_with('L')) return weave::LabelSource::kObject;
  if (type == "J") return weave::LabelSource::kLongNumber;
  if (type == "I" || type == "S" || type == "B") return weave::LabelSource::kNumber;
  return std::nullopt;
}

// Returns the local variable with an argument, which is counted from 1, and how its text is made.
Result<weave::LabelAtEntry> LabelOf(const weave::Method& method, uint32_t argument) {
  weave::ArgumentTypes types(method.descriptor);
  uint32_t local = method.IsStatic() ? 0 : 1;
  for (uint32_t number = 1;; ++number) {
    const std::string_view type = types.Next();
    if (type.empty()) return Fail("it has no argument {}", argument);
    if (number == argument) {
      const auto source = SourceOf(type);
      if (!source)
        return Fail("its argument {} is neither an object nor a byte, short, int or long",
                    argument);
      return weave::LabelAtEntry{*source, static_cast<uint16_t>(local)};
    }
    local += type == "J" || type == "D" ? 2 : 1;
  }
}

}  // namespace

LabelArguments::LabelArguments(const std::vector<std::string>& items) {
  for (const std::string& item : items) {
    if (auto method = options::ParseLabelMethod(item)) methods_.push_back(*std::move(method));
  }
}

std::optional<weave::LabelAtEntry> LabelArguments::Of(const weave::Method& method,
                                                      profile::ControlHeader& header) const {
  for (size_t i = 0; i < methods_.size() && i < std::size(header.label_methods); ++i) {
    if (!methods_[i].Matches(method.class_name, method.name)) continue;
    const auto label = LabelOf(method, methods_[i].argument);
    if (label) {
      __atomic_fetch_add(&header.label_methods[i], 1, __ATOMIC_RELAXED);
      return *label;
    }
    setup::PrintMessage(fmt::format("LABEL_FROM (--label-from): {}.{}{} sets no label: {}",
                                    profile::CleanText(method.class_name),
                                    profile::CleanText(method.name),
                                    profile::CleanText(method.descriptor), label.error().message));
  }
  return std::nullopt;
}

}  // namespace jprof::agent
