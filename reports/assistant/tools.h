// Lists the tools that assistants can call (docs/ASSISTANTS.md). A tool is a row of a table over
// the reports: what it is called with, and how it prints its answer. It only reads.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "model/open/open.h"
#include "reports/print/formats.h"

namespace jprof::reports::assistant {

// Opens what the arguments of tools name.
struct ProfileDoor {
  // Returns the directory to open for the text of an argument, which may be empty. Fails if it may
  // not be read.
  std::function<Result<std::string>(const std::string& named)> admit;
  // These open a directory that was admitted. Their messages state what to do.
  std::function<Result<model::Input>(const std::string& directory)> open;
  std::function<Result<model::Source>(const std::string& directory)> open_comparable;
};

struct Parameter {
  enum class Kind : uint8_t { kProfile, kText, kChoice, kLimit, kFlag };
  const char* name;
  Kind kind;
  bool required;
  const char* description;
  std::span<const std::string_view> choices = {};  // of kChoice; the first one is the default
};

// The arguments of a call, which CheckArguments has accepted. Profiles are directories that were
// admitted.
class Arguments {
 public:
  explicit Arguments(nlohmann::json values) : values_(std::move(values)) {}
  std::string Text(const char* name) const { return values_.value(name, ""); }
  bool Flag(const char* name) const { return values_.value(name, false); }
  size_t Limit() const { return values_.value("limit", kLimit); }
  bool Has(const char* name) const { return values_.contains(name); }

  static constexpr size_t kLimit = 20, kMostLimit = 200;  // rows

 private:
  nlohmann::json values_;
};

// Prints an answer with at most `limit` rows of each list, as text or as JSON.
using AnswerPrinter = std::function<Result<void>(size_t limit, Format format, Output& out)>;

struct Tool {
  const char* name;
  const char* title;
  const char* description;
  std::span<const Parameter> parameters;
  // Loads what the answer is of. Fails with a message that says what to do.
  Result<AnswerPrinter> (*load)(const Arguments& arguments, const ProfileDoor& door);
};

std::span<const Tool> Tools();

// Returns the tool as tools/list describes it.
nlohmann::ordered_json Described(const Tool& tool);

// An answer of at most 2 * kMostAnswer bytes.
struct Answer {
  std::string text;
  std::string json;  // one line; empty if it would be too large
};
inline constexpr size_t kMostAnswer = 32 * 1024;

// Answers a call. Fails if the arguments are not those of the tool, or with the tool's error.
Result<Answer> CallTool(const Tool& tool, const nlohmann::json& arguments, const ProfileDoor& door);

}  // namespace jprof::reports::assistant
