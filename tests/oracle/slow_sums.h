// The sums of a call tree by a slow, simple method: from the CSV of log-rt, with maps and strings.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace jprof::oracle {

struct CsvRow {
  std::map<std::string, std::string> fields;
  double number(const std::string& name) const { return std::stod(fields.at(name)); }
};

// Only the last field is quoted.
inline std::vector<CsvRow> ParseCsv(const std::string& text) {
  std::vector<CsvRow> rows;
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    size_t at = 0;
    while (names.empty() || fields.size() + 1 < names.size()) {
      const size_t comma = line.find(',', at);
      if (comma == std::string::npos) break;
      fields.push_back(line.substr(at, comma - at));
      at = comma + 1;
    }
    fields.push_back(line.substr(at));
    if (names.empty()) {
      names = fields;
      continue;
    }
    CsvRow& row = rows.emplace_back();
    for (size_t i = 0; i < fields.size(); ++i) row.fields[names[i]] = fields[i];
  }
  return rows;
}

inline double Total(const std::vector<CsvRow>& rows, const std::string& column) {
  double sum = 0;
  for (const CsvRow& row : rows) sum += row.number(column);
  return sum;
}

// The inclusive value of each row, by id; rows follow their parents.
inline std::map<std::string, double> Cumulative(const std::vector<CsvRow>& rows,
                                                const std::string& column) {
  std::map<std::string, double> sums;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    sums[row->fields.at("parent")] += sums[row->fields.at("id")] += row->number(column);
  }
  return sums;
}

// The inclusive cost of a method; recursive calls are counted once.
inline double MethodCumulative(const std::vector<CsvRow>& rows, const std::string& name,
                               const std::string& column) {
  const std::map<std::string, double> sums = Cumulative(rows, column);
  std::map<std::string, const CsvRow*> by_id;
  for (const CsvRow& row : rows) by_id[row.fields.at("id")] = &row;
  double sum = 0;
  for (const CsvRow& row : rows) {
    if (row.fields.at("name") != name) continue;
    bool inside_itself = false;
    for (auto up = by_id.find(row.fields.at("parent")); up != by_id.end();
         up = by_id.find(up->second->fields.at("parent"))) {
      inside_itself = inside_itself || up->second->fields.at("name") == name;
    }
    if (!inside_itself) sum += sums.at(row.fields.at("id"));
  }
  return sum;
}

}  // namespace jprof::oracle
