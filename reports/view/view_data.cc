#include "reports/view/view_data.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "common/base64.h"
#include "common/frame_kind.h"
#include "profile/files/printable_text.h"
#include "reports/view/page.h"

namespace jprof::reports {
namespace {

using nlohmann::json;

constexpr size_t kAlignment = 8;

// Compresses text to a zlib stream (RFC 1950) and writes it as base64.
class CompressedOutput {
 public:
  explicit CompressedOutput(Output& out) : out_(out) {
    usable_ = deflateInit(&stream_, kLevel) == Z_OK;
    EmptyBuffer();
  }
  ~CompressedOutput() {
    if (usable_) deflateEnd(&stream_);
  }
  CompressedOutput(const CompressedOutput&) = delete;
  CompressedOutput& operator=(const CompressedOutput&) = delete;

  // Returns false if there is not enough memory.
  bool Write(std::string_view bytes) {
    constexpr size_t kMost = 1 << 30;  // zlib counts 32 bits
    for (; !bytes.empty() && usable_; bytes.remove_prefix(std::min(bytes.size(), kMost)))
      Deflate(bytes.substr(0, kMost), Z_NO_FLUSH);
    return usable_;
  }
  bool Finish() {
    if (!usable_) return false;
    Deflate({}, Z_FINISH);
    out_.Text(Base64({buffer_.data(), buffer_.size() - stream_.avail_out}));
    return true;
  }

 private:
  static constexpr int kLevel = 6;

  void Deflate(std::string_view part, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));  // only read
    stream_.avail_in = static_cast<uInt>(part.size());
    for (deflate(&stream_, flush); stream_.avail_out == 0; deflate(&stream_, flush)) {
      out_.Text(Base64({buffer_.data(), buffer_.size()}));
      EmptyBuffer();
    }
  }
  void EmptyBuffer() {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_out = static_cast<uInt>(buffer_.size());
  }

  Output& out_;
  z_stream stream_ = {};
  bool usable_ = false;
  std::array<char, 3 << 14> buffer_;  // a multiple of 3
};

std::string LittleEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

}  // namespace

ViewData::ViewData(std::string_view kind, std::string_view title) {
  header_ = {{"kind", kind},
             {"title", profile::CleanText(title)},
             {"facts", json::array()},
             {"losses", json::array()},
             {"notes", json::array()},
             {"metrics", json::array()},
             {"threads", json::array()},
             {"trees", json::array()},
             {"frames", json::object()}};
  for (const FrameKindRow& row : kFrameKinds)
    header_["frames"][std::string(1, row.letter)] = row.meaning;
}

void ViewData::Fact(std::string_view label, std::string_view text) {
  if (!text.empty()) header_["facts"].push_back({label, profile::CleanText(text)});
}

void ViewData::Loss(std::string_view text) {
  header_["losses"].push_back(profile::CleanText(text));
}

void ViewData::Note(std::string_view text) { header_["notes"].push_back(profile::CleanText(text)); }

json ViewData::AddNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (&name != &names.front()) text += '\n';
    text += profile::CleanText(name);
  }
  return AppendBytes("text", text, text.size());
}

json ViewData::AddText(std::string_view text) { return AppendBytes("text", text, text.size()); }

json ViewData::AppendBytes(const char* type, std::string_view bytes, size_t length) {
  const size_t offset = sections_.size();
  sections_.append(bytes);
  sections_.resize((sections_.size() + kAlignment - 1) / kAlignment * kAlignment);
  return {{"type", type}, {"offset", offset}, {"length", length}};
}

Result<void> ViewData::Print(Output& out) const {
  std::string header = header_.dump(-1, ' ', false, json::error_handler_t::replace);
  header.resize((header.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const auto [before, after] = PageAroundData();
  out.Text(before);
  out.Text("<script type=\"application/octet-stream\" id=\"jprof-data\">");
  CompressedOutput compressed(out);
  const bool done =
      compressed.Write("JPV1" + LittleEndian(static_cast<uint32_t>(header.size())) + header) &&
      compressed.Write(sections_) && compressed.Finish();
  if (!done) return Fail("not enough memory to compress the view");
  out.Text("</script>");
  out.Text(after);
  return {};
}

uint32_t ViewNames::Of(std::string_view name) {
  const auto [place, is_new] =
      places_.try_emplace(std::string(name), static_cast<uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return place->second;
}

uint32_t ViewTree::AddRow(uint32_t row_parent, uint32_t row_method, char row_type) {
  parent.push_back(row_parent);
  method.push_back(row_method);
  type.push_back(static_cast<uint8_t>(row_type));
  return static_cast<uint32_t>(parent.size() - 1);
}

json Describe(const ViewTree& tree, std::string_view name, ViewData& data, size_t first_metric) {
  json columns;
  if (!tree.parent.empty()) columns["parent"] = data.Add(std::span(tree.parent));
  if (!tree.method.empty()) columns["method"] = data.Add(std::span(tree.method));
  if (!tree.type.empty()) columns["type"] = data.Add(std::span(tree.type));
  if (!tree.thread.empty()) columns["thread"] = data.Add(std::span(tree.thread));
  if (!tree.calls.empty()) columns["calls"] = data.Add(std::span(tree.calls));
  columns["self"] = json::array();
  columns["error"] = json::array();
  for (size_t m = 0; m < tree.self.size(); ++m) {
    columns["self"].push_back(data.Add(std::span(tree.self[m])));
    columns["error"].push_back(tree.error[m].empty() ? json() : data.Add(std::span(tree.error[m])));
  }
  std::vector<size_t> metrics(tree.self.size());
  std::iota(metrics.begin(), metrics.end(), first_metric);
  const size_t rows = tree.self.empty() ? tree.parent.size() : tree.self[0].size();
  return {{"name", name},
          {"rows", rows},
          {"has_calls", !tree.calls.empty()},
          {"metrics", metrics},
          {"columns", columns}};
}

void DescribeNoTree(std::string_view metric, ViewData& data) {
  data["metrics"].push_back({{"name", metric}, {"unit", ""}, {"kind", "count"}, {"exact", true}});
  data["trees"].push_back(Describe(ViewTree(1), "", data));
  data["methods"] = data.AddNames({});
}

}  // namespace jprof::reports
