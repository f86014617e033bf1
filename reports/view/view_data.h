// Writes the data of an HTML view (docs/VIEW.md) into the page: a header with what is small, and
// compressed sections with one value for each row.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reports/print/output.h"

namespace jprof::reports {

class ViewData {
 public:
  // `kind` is tree, combined, compare or tprof.
  ViewData(std::string_view kind, std::string_view title);

  // Adds a label and a text about what was profiled to the first screen. Ignores empty texts.
  void Fact(std::string_view label, std::string_view text);
  void Loss(std::string_view text);  // shown as a warning
  void Note(std::string_view text);  // uncertainty, always visible

  // Adds a section. Returns its description, for the header.
  nlohmann::json Add(std::span<const uint8_t> values) { return Append("u8", values); }
  nlohmann::json Add(std::span<const uint32_t> values) { return Append("u32", values); }
  nlohmann::json Add(std::span<const float> values) { return Append("f32", values); }
  nlohmann::json Add(std::span<const double> values) { return Append("f64", values); }
  // Adds a section of names, one per line. Cleans any bytes.
  nlohmann::json AddNames(const std::vector<std::string>& names);
  nlohmann::json AddText(std::string_view text);

  // Returns a member that the writers of trees set: threads, metrics, trees, methods, annotations.
  nlohmann::json& operator[](const char* member) { return header_[member]; }

  // Prints the page with these data.
  Result<void> Print(Output& out) const;

 private:
  template <typename T>
  nlohmann::json Append(const char* type, std::span<const T> values) {
    return AppendBytes(type, {reinterpret_cast<const char*>(values.data()), values.size_bytes()},
                       values.size());
  }
  nlohmann::json AppendBytes(const char* type, std::string_view bytes, size_t length);

  nlohmann::json header_;
  std::string sections_;
};

// A list of names that holds each once.
class ViewNames {
 public:
  uint32_t Of(std::string_view name);
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> places_;
};

// The columns of a tree. Parents come first; `parent` is kNoNode if a row has none.
struct ViewTree {
  std::vector<uint32_t> parent, method, thread;
  std::vector<uint8_t> type;
  std::vector<double> calls;              // empty if unknown
  std::vector<std::vector<double>> self;  // [metric][row], in the metric's unit
  std::vector<std::vector<float>> error;  // [metric][row], one standard deviation; may be empty

  explicit ViewTree(size_t metrics) : self(metrics), error(metrics) {}
  // Appends a row without values. Returns its number.
  uint32_t AddRow(uint32_t row_parent, uint32_t row_method, char row_type);
};

// Returns the tree's description, for the header's member "trees". Its metrics are those of the
// header from `first_metric` on.
nlohmann::json Describe(const ViewTree& tree, std::string_view name, ViewData& data,
                        size_t first_metric = 0);

// Adds a metric of this name, a tree and methods, all without rows, to a page that shows none: each
// page has them.
void DescribeNoTree(std::string_view metric, ViewData& data);

}  // namespace jprof::reports
