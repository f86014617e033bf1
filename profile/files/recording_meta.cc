#include "profile/files/recording_meta.h"

#include "profile/files/json_fields.h"

namespace jprof::profile {

using nlohmann::json;

std::string ToJson(const RecordingMeta& meta) {
  const json root = {
      {"sampling", meta.sampling}, {"platform", meta.platform},           {"command", meta.command},
      {"process", meta.process},   {"whole_machine", meta.whole_machine}, {"notes", meta.notes}};
  return root.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::optional<RecordingMeta> ParseRecordingMeta(std::string_view text) {
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return std::nullopt;
  RecordingMeta meta;
  const JsonFields fields(root);
  fields.Read("sampling", meta.sampling);
  fields.Read("platform", meta.platform);
  fields.Read("command", meta.command);
  fields.Read("process", meta.process);
  fields.Read("whole_machine", meta.whole_machine);
  if (const json& notes = fields.At("notes"); notes.is_array()) {
    for (const json& note : notes) meta.notes.push_back(JsonFields::Text(note));
  }
  return meta;
}

}  // namespace jprof::profile
