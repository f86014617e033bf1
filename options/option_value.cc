// Option values: Set parses them and ValueOf prints them, with one function per type.
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/nearest.h"
#include "options/option_table.h"
#include "ptm/sampling_rate.h"

namespace jprof::options {
namespace {

using Done = Result<void>;
using Text = std::optional<std::string>;

// Functions with hooks may begin a recording before the constructors of this library have run.
const AgentOptions& Defaults() {
  static const AgentOptions defaults;
  return defaults;
}

template <typename T>
Done Store(Result<T> value, T& into) {
  if (!value) return std::unexpected(value.error());
  into = *std::move(value);
  return {};
}

Done ParseNumber(std::string_view value, uint64_t most, uint64_t& into) {
  uint64_t number = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (problem != std::errc() || end != value.data() + value.size() || number == 0 ||
      number > most) {
    return WrongUse("'{}' is not a whole number from 1 to {}", value, most);
  }
  into = number;
  return {};
}

Done ParseSeconds(std::string_view value, uint64_t most, uint64_t& into) {
  constexpr std::pair<char, uint64_t> kUnits[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
  const auto* const unit =
      std::ranges::find_if(kUnits, [&](const auto& one) { return value.ends_with(one.first); });
  const bool has_unit = unit != std::end(kUnits);
  const uint64_t seconds = has_unit ? unit->second : 1;
  uint64_t number = 0;
  if (!ParseNumber(value.substr(0, value.size() - has_unit), most / seconds, number))
    return WrongUse("'{}' is not a time from 1 to {} seconds, such as 30, 30s, 5m or 1h", value,
                    most);
  into = number * seconds;
  return {};
}

// Parses a size in bytes, or with K, M or G in units of 1024.
std::optional<uint64_t> ParseSize(std::string_view value) {
  constexpr std::string_view kUnits = "KMG";
  uint64_t number = 0;
  const char* const last = value.data() + value.size();
  const auto [end, problem] = std::from_chars(value.data(), last, number);
  if (problem != std::errc()) return std::nullopt;
  const std::string_view rest(end, static_cast<size_t>(last - end));
  if (rest.empty()) return number;
  const size_t unit = kUnits.find(static_cast<char>(rest[0] & ~0x20));
  if (rest.size() != 1 || unit == std::string_view::npos) return std::nullopt;
  const int shift = 10 * static_cast<int>(unit + 1);
  if (number >> (64 - shift) != 0) return std::nullopt;
  return number << shift;
}

std::string SizeText(uint64_t bytes) {
  constexpr std::string_view kUnits = "GMK";
  for (size_t i = 0; i < kUnits.size(); ++i) {
    const uint64_t unit = uint64_t{1} << (10 * (kUnits.size() - i));
    if (bytes % unit == 0) return fmt::format("{}{}", bytes / unit, kUnits[i]);
  }
  return fmt::format("{}", bytes);
}

struct Setter {
  AgentOptions& options;
  std::string_view value;
  Interface interface;

  Done operator()(const ModeOption& target) const {
    options.mode = target.mode;
    return value.empty() ? Done() : Store(ParseTriggers(value), options.triggers);
  }
  Done operator()(const Flag& target) const {
    options.*target.member = target.value;
    return {};
  }
  Done operator()(const Path& target) const {
    if (interface == Interface::kAgentString) return Store(Decode(value), options.*target.member);
    options.*target.member = value;
    return {};
  }
  Done operator()(const List& target) const {
    auto items = ParseList(value);
    if (!items) return std::unexpected(items.error());
    if (items->size() > target.most)
      return WrongUse("{} names; at most {} are allowed", items->size(), target.most);
    for (auto it = items->begin(); it != items->end(); ++it) {
      if (std::find(items->begin(), it, *it) != it) return WrongUse("'{}' is named twice", *it);
    }
    options.*target.member = *std::move(items);
    return {};
  }
  Done operator()(const Patterns& target) const {
    if (target.needed && value.empty())
      return WrongUse("'' names no method: name some, such as com.acme.Cart.total");
    return Store(ParseFilter(value, target.names), options.*target.member);
  }
  Done operator()(const Size& target) const {
    const auto size = ParseSize(value);
    if (!size || *size < target.least || *size > target.most) {
      return WrongUse("'{}' is not a size from {} to {} (bytes, or with K, M or G)", value,
                      SizeText(target.least), SizeText(target.most));
    }
    options.*target.member = *size;
    return {};
  }
  Done operator()(const Number& target) const {
    return ParseNumber(value, target.most, options.*target.member);
  }
  Done operator()(const Seconds& target) const {
    return ParseSeconds(value, target.most, options.*target.member);
  }
  Done operator()(const Rate& target) const {
    if (target.sample) options.triggers = {Trigger{}};
    if (target.sample && value.empty()) return {};
    return ParseNumber(value, ptm::kMostRate, options.rate);
  }
  Done operator()(const Choice<Children>& target) const {
    if (!value.empty()) return Choose(target);
    options.*target.member = Children::kAll;
    return {};
  }
  template <typename E>
  Done operator()(const Choice<E>& target) const {
    return Choose(target);
  }

  template <typename E>
  Done Choose(const Choice<E>& target) const {
    for (size_t i = 0; i < target.names.size(); ++i) {
      if (EditDistance(value, target.names[i]) != 0) continue;
      options.*target.member = static_cast<E>(i);
      return {};
    }
    const auto nearest = Nearest(value, target.names);
    return WrongUse("there is no '{}'; {}", value,
                    nearest ? fmt::format("did you mean {}?", *nearest)
                            : fmt::format("choose one of {}", fmt::join(target.names, ", ")));
  }
};

struct Getter {
  const AgentOptions& options;

  Text operator()(const ModeOption& target) const {
    if (options.mode != target.mode) return std::nullopt;
    return target.mode == Mode::kScs ? ToString(options.triggers) : "";
  }
  Text operator()(const Flag& target) const {
    const bool given =
        options.*target.member == target.value && Defaults().*target.member != target.value;
    return given ? Text("") : std::nullopt;
  }
  Text operator()(const Path& target) const { return IfAny(Encode(options.*target.member)); }
  Text operator()(const List& target) const {
    std::vector<std::string> encoded;
    for (const std::string& item : options.*target.member) encoded.push_back(Encode(item));
    return IfAny(fmt::format("{}", fmt::join(encoded, "+")));
  }
  Text operator()(const Patterns& target) const { return IfAny(ToString(options.*target.member)); }
  Text operator()(const Size& target) const {
    const uint64_t size = options.*target.member;
    return size != Defaults().*target.member ? Text(SizeText(size)) : std::nullopt;
  }
  Text operator()(const Number& target) const {
    return IfOther(options.*target.member, Defaults().*target.member);
  }
  Text operator()(const Seconds& target) const {
    return IfOther(options.*target.member, Defaults().*target.member);
  }
  // The rate is the value of SAMPLE if that is set.
  Text operator()(const Rate& target) const {
    const bool sampled_tree = options.mode == Mode::kCalltree && !options.triggers.empty();
    if (target.sample != sampled_tree) return std::nullopt;
    return IfOther(options.rate, target.sample ? 0 : Defaults().rate);
  }
  template <typename E>
  Text operator()(const Choice<E>& target) const {
    const E chosen = options.*target.member;
    if (chosen == Defaults().*target.member) return std::nullopt;
    return std::string(target.names[static_cast<size_t>(chosen)]);
  }

  static Text IfAny(std::string text) {
    return text.empty() ? std::nullopt : Text(std::move(text));
  }
  static Text IfOther(uint64_t number, uint64_t than) {
    return number != than ? Text(fmt::format("{}", number)) : std::nullopt;
  }
};

// Prints the default and the bounds of a value, for help.
struct Bounds {
  std::string operator()(const List& target) const {
    return fmt::format("; at most {}", target.most);
  }
  std::string operator()(const Size& target) const {
    return fmt::format(" (default {}; {} to {})", SizeText(Defaults().*target.member),
                       SizeText(target.least), SizeText(target.most));
  }
  std::string operator()(const Number& target) const {
    return fmt::format(" (1 to {})", target.most);
  }
  std::string operator()(const Seconds& target) const {
    return fmt::format(" (1 to {})", target.most);
  }
  std::string operator()(const Rate&) const {
    return fmt::format(" (default {}; up to {})", Defaults().rate, ptm::kMostRate);
  }
  template <typename E>
  std::string operator()(const Choice<E>& target) const {
    return fmt::format(" (default {})",
                       target.names[static_cast<size_t>(Defaults().*target.member)]);
  }
  std::string operator()(const auto&) const { return ""; }
};

struct ChoiceNames {
  using Names = std::span<const std::string_view>;
  template <typename E>
  Names operator()(const Choice<E>& target) const {
    return target.names;
  }
  Names operator()(const auto&) const { return {}; }
};

}  // namespace

Checked Set(const Option& option, std::string_view value, Interface interface,
            AgentOptions& options) {
  const Done done = std::visit(Setter{options, value, interface}, option.target);
  if (!done)
    return std::unexpected(OptionError{.option = &option, .problem = done.error().message});
  return {};
}

std::optional<std::string> ValueOf(const Option& option, const AgentOptions& options) {
  return std::visit(Getter{options}, option.target);
}

std::string HelpOf(const Option& option) {
  return std::string(option.help) + std::visit(Bounds(), option.target);
}

std::span<const std::string_view> ChoicesOf(const Option& option) {
  return std::visit(ChoiceNames(), option.target);
}

}  // namespace jprof::options
