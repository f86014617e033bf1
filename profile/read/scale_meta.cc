#include "profile/read/scale_meta.h"

#include <fmt/format.h>

#include "profile/files/json_fields.h"
#include "profile/read/list_file.h"

namespace jprof::profile {
namespace {

using nlohmann::json;

constexpr uint64_t kScaleFormat = 1;
constexpr char kSizePrefix = 'n';

void ParseSizes(const json& list, ScaleMeta& meta, Damages& damages) {
  if (!list.is_array()) return;
  for (const json& size : list) {
    const uint64_t n = size.is_number_unsigned() ? size.get<uint64_t>() : 0;
    if (n <= (meta.sizes.empty() ? 0 : meta.sizes.back())) {
      damages.Add("a size is not greater than the one before it", size.dump());
      continue;
    }
    meta.sizes.push_back(n);
  }
}

}  // namespace

std::string SizeProfile(uint64_t size) { return fmt::format("{}{}", kSizePrefix, size); }

bool IsSizeProfile(std::string_view name) {
  return name.size() > 1 && name.front() == kSizePrefix &&
         name.find_first_not_of("0123456789", 1) == name.npos;
}

std::string ToJson(const ScaleMeta& meta) {
  const json root = {{"format", kScaleFormat},  {"jprof", meta.jprof}, {"start", meta.start},
                     {"command", meta.command}, {"notes", meta.notes}, {"sizes", meta.sizes}};
  return root.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

ScaleMeta ParseScale(std::string_view text, Damages& damages) {
  ScaleMeta meta;
  const json root = ParseListFile(text, kScaleFormat, damages);
  if (!root.is_object()) return meta;
  const JsonFields fields(root);
  fields.Read("jprof", meta.jprof);
  fields.Read("start", meta.start);
  meta.command = fields.Texts("command");
  meta.notes = fields.Texts("notes");
  ParseSizes(fields.At("sizes"), meta, damages);
  return meta;
}

bool IsScale(const std::filesystem::path& directory) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(directory / kScaleFile, ignored);
}

Result<ScaleMeta> ReadScale(const std::filesystem::path& directory) {
  const auto text =
      ReadListFile(directory, {.name = kScaleFile,
                               .directory = "a result of jprof scale",
                               .make = "jprof scale --sizes 1000,2000,4000,8000 -- CMD {n}"});
  if (!text) return std::unexpected(text.error());
  Damages damages;
  ScaleMeta meta = ParseScale(*text, damages);
  if (damages.empty() && meta.sizes.empty()) damages.Add("it names no size");
  if (damages.empty()) return meta;
  return Fail("{}: damaged: {}; its sizes are combined profiles, which jprof report prints",
              (directory / kScaleFile).string(), damages.Lines().front());
}

}  // namespace jprof::profile
