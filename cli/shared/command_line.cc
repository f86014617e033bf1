#include "cli/shared/command_line.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "cli/shared/command_tree.h"
#include "cli/shared/unknown_argument.h"

namespace jprof::cli {
namespace {

// States the type of the numbers or texts in a variable.
template <typename T>
struct Item {
  using Type = T;
};
template <typename T>
struct Item<std::optional<T>> {
  using Type = T;
};
template <typename T>
struct Item<std::vector<T>> {
  using Type = T;
};

// Accepts text that is not empty.
CLI::Validator AnyName() {
  const auto check = [](const std::string& text) {
    return std::string(text.empty() ? "an empty name" : "");
  };
  return CLI::Validator(check, "");
}

// An empty name of an output is a mistake, such as that of an empty variable of a script.
Declared Named(CLI::Option* option, const std::string& value) {
  if (!value.empty()) option->type_name(value);
  if (option->check_sname("o")) option->check(AnyName());
  return Declared(option);
}

// Accepts text that is a number of type T for which holds(number).
template <typename T, typename Holds>
CLI::Validator NumberThat(const Holds& holds, const std::string& what) {
  const auto check = [holds, what](const std::string& text) {
    T number = 0;
    const bool good = CLI::detail::lexical_cast(text, number) && holds(number);
    return good ? std::string() : fmt::format("'{}' is not {}", text, what);
  };
  return CLI::Validator(check, "");
}

template <typename T>
CLI::Validator AnyNumber() {
  return NumberThat<T>([](T) { return true; }, std::is_unsigned_v<T> ? "a whole number of 0 or more"
                                               : std::is_integral_v<T> ? "a whole number"
                                                                       : "a number");
}

template <typename T>
CLI::Validator NumberBetween(T least, T most) {
  return NumberThat<T>(
      [=](T number) { return least <= number && number <= most; },
      fmt::format("{} from {} to {}", std::is_integral_v<T> ? "a whole number" : "a number", least,
                  most));
}

}  // namespace

Declared Declared::Required() const { return Declared(option_->required()); }

Declared Declared::Positive() const {
  return Declared(
      option_->check(NumberThat<double>([](double n) { return n > 0; }, "a number above 0")));
}

Declared Declared::NotNegative() const {
  return Declared(
      option_->check(NumberThat<double>([](double n) { return n >= 0; }, "0 or a number above")));
}

Declared Declared::Between(int64_t least, int64_t most) const {
  return Declared(option_->check(NumberBetween(least, most)));
}

Declared Declared::Between(uint64_t least, uint64_t most) const {
  return Declared(option_->check(NumberBetween(least, most)));
}

Declared Declared::Between(double least, double most) const {
  return Declared(option_->check(NumberBetween(least, most)));
}

Declared Declared::OneOf(const std::vector<std::string>& values) const {
  const auto check = [values](const std::string& text) {
    if (std::ranges::count(values, text) != 0) return std::string();
    return fmt::format("'{}' is unknown; choose one of: {}", text, fmt::join(values, ", "));
  };
  return Declared(option_->check(CLI::Validator(check, "")));
}

Declared Declared::Size() const {
  const auto convert = [size = CLI::AsSizeValue(false)](std::string& text) {
    const std::string typed = text;
    try {
      if (size(text).empty()) return std::string();
    } catch (const CLI::ValidationError&) {  // an unknown suffix
    }
    return fmt::format("'{}' is not a size, such as 64K or 4M", typed);
  };
  return Declared(option_->transform(CLI::Validator(convert, "")));
}

Declared Declared::Excludes(const char* other) const { return Declared(option_->excludes(other)); }

Declared Declared::Needs(const char* other) const { return Declared(option_->needs(other)); }

Declared Declared::OptionalValue() const { return Declared(option_->expected(0, 1)); }

Declared Declared::SeveralValues() const { return Declared(option_->expected(1, -1)); }

Declared Declared::OneValueEach() const { return Declared(option_->allow_extra_args(false)); }

Declared Declared::Repeatable() const {
  return Declared(option_->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll));
}

Declared Declared::JoinedBy(char separator) const { return Declared(option_->join(separator)); }

Declared Declared::ShowDefault() const { return Declared(option_->capture_default_str()); }

bool Declared::IsGiven() const { return option_->count() > 0; }

template <typename T>
Declared CommandLine::Option(const std::string& names, T& variable, const std::string& value,
                             const std::string& help) {
  CLI::Option* option = app_.add_option(names, variable, help);
  using Type = typename Item<T>::Type;
  if constexpr (std::is_arithmetic_v<Type>) option->check(AnyNumber<Type>());
  if constexpr (std::is_same_v<Type, std::string>) {
    if (option->get_positional()) option->check(AnyName());
  }
  return Named(option, value);
}

// The types of variables.
template Declared CommandLine::Option(const std::string&, std::string&, const std::string&,
                                      const std::string&);
template Declared CommandLine::Option(const std::string&, double&, const std::string&,
                                      const std::string&);
template Declared CommandLine::Option(const std::string&, int64_t&, const std::string&,
                                      const std::string&);
template Declared CommandLine::Option(const std::string&, uint32_t&, const std::string&,
                                      const std::string&);
template Declared CommandLine::Option(const std::string&, uint64_t&, const std::string&,
                                      const std::string&);
template Declared CommandLine::Option(const std::string&, std::optional<uint32_t>&,
                                      const std::string&, const std::string&);
template Declared CommandLine::Option(const std::string&, std::optional<uint64_t>&,
                                      const std::string&, const std::string&);
template Declared CommandLine::Option(const std::string&, std::optional<double>&,
                                      const std::string&, const std::string&);
template Declared CommandLine::Option(const std::string&, std::vector<uint32_t>&,
                                      const std::string&, const std::string&);
template Declared CommandLine::Option(const std::string&, std::vector<std::string>&,
                                      const std::string&, const std::string&);

Declared CommandLine::Option(const std::string& names, std::function<void(const std::string&)> set,
                             const std::string& value, const std::string& help) {
  return Named(app_.add_option_function<std::string>(names, std::move(set), help), value);
}

Declared CommandLine::Flag(const std::string& names, bool& variable, const std::string& help) {
  return Declared(app_.add_flag(names, variable, help));
}

Declared CommandLine::Flag(const std::string& names, std::string& variable,
                           const std::string& help) {
  return Declared(app_.add_flag(names, variable, help));
}

Declared CommandLine::Flag(const std::string& names, std::function<void()> set,
                           const std::string& help) {
  return Declared(app_.add_flag_callback(names, std::move(set), help));
}

void CommandLine::Group(const std::string& heading) { app_.option_defaults()->group(heading); }

void CommandLine::Footer(const std::string& text) { app_.footer(text); }

void CommandLine::AllowOthers() { app_.prefix_command(); }

std::string CommandLine::Name() const { return app_.get_name(); }

std::vector<std::string> CommandLine::Others() const { return app_.remaining(); }

std::string CommandLine::UnknownText(const std::string& argument) const {
  return UnknownArgument(app_, argument);
}

std::vector<std::string> CommandLine::GivenOptions() const {
  std::vector<std::string> given;
  for (const CLI::Option* option : std::as_const(app_).get_options()) {
    if (option->count() > 0 && option->nonpositional() && !option->get_lnames().empty())
      given.push_back("--" + option->get_lnames().front());
  }
  return given;
}

bool CommandLine::IsGiven(const std::string& option) const { return app_.count(option) > 0; }

CommandNode CommandLine::Tree() const { return TreeOf(*app_.get_parent()); }

}  // namespace jprof::cli
