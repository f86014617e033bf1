#include "profile/merge/merged_meta.h"

#include <nlohmann/json.hpp>

#include "profile/files/json_fields.h"
#include "profile/read/reader.h"

namespace jprof::profile {
namespace {

using nlohmann::json;

constexpr uint64_t kMergedLimit = 256 << 20;

std::vector<std::string> TextsOf(const json& values) {
  std::vector<std::string> texts;
  if (!values.is_array()) return texts;
  for (const json& value : values) texts.push_back(JsonFields::Text(value));
  return texts;
}

MergedInput ParseInput(const JsonFields& fields) {
  MergedInput input;
  fields.Read("path", input.path);
  input.command = TextsOf(fields.At("command"));
  fields.Read("pid", input.pid);
  fields.Read("start", input.start);
  fields.Read("finished", input.finished);
  fields.Read("cpu_seconds", input.cpu_seconds);
  fields.Read("calls", input.calls);
  input.damages = TextsOf(fields.At("damages"));
  return input;
}

}  // namespace

std::string ToJson(const MergedMeta& meta) {
  json inputs = json::array();
  for (const MergedInput& input : meta.inputs) {
    inputs.push_back({{"path", input.path},
                      {"command", input.command},
                      {"pid", input.pid},
                      {"start", input.start},
                      {"finished", input.finished},
                      {"cpu_seconds", input.cpu_seconds},
                      {"calls", input.calls},
                      {"damages", input.damages}});
  }
  const json root = {{"threads", meta.threads}, {"inputs", inputs}, {"notices", meta.notices}};
  return root.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

MergedMeta ParseMerged(std::string_view text, Damages& damages) {
  MergedMeta meta;
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) {
    damages.Add("merged.json: not JSON: what the profile was merged from is unknown");
    return meta;
  }
  const JsonFields fields(root);
  fields.Read("threads", meta.threads);
  meta.notices = TextsOf(fields.At("notices"));
  if (const json& inputs = fields.At("inputs"); inputs.is_array()) {
    for (const json& input : inputs) meta.inputs.push_back(ParseInput(JsonFields(input)));
  }
  return meta;
}

std::optional<MergedMeta> ReadMerged(Reader& reader) {
  const ReaderFile file = reader.OpenFile(kMergedFile);
  if (!file.exists()) return std::nullopt;
  return ParseMerged(file.ReadAll(kMergedLimit), reader.damages());
}

}  // namespace jprof::profile
