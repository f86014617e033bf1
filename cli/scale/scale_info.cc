#include "cli/scale/scale_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/shell_word.h"
#include "profile/files/printable_text.h"
#include "profile/read/scale_meta.h"
#include "reports/print/json_writer.h"
#include "reports/print/output.h"

namespace jprof::cli {
namespace {

std::string PathOf(const std::string& directory, uint64_t size) {
  return fmt::format("{}/{}", directory, profile::SizeProfile(size));
}

void PrintText(const std::string& directory, const profile::ScaleMeta& meta, reports::Output& out) {
  const auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) out.Print("{:<12} {}\n", name, profile::CleanText(value));
  };
  line("result", directory + " (jprof scale)");
  line("command", fmt::format("{}", fmt::join(meta.command, " ")));
  line("made", meta.start);
  for (const std::string& note : meta.notes) line("note", note);
  for (const uint64_t size : meta.sizes)
    line("size", fmt::format("n = {}: {}", size, PathOf(directory, size)));
  out.Print("Its report: jprof report {}; jprof info describes each of these profiles.\n",
            ShellWord(profile::CleanText(directory)));
}

void PrintJson(const std::string& directory, const profile::ScaleMeta& meta, reports::Output& out) {
  reports::JsonWriter json(out);
  json.StartObject();
  json.Member("profile", directory);
  json.Member("mode", "scale");
  json.Member("jprof", meta.jprof);
  json.StringsMember("command", meta.command);
  json.Member("start", meta.start);
  json.StringsMember("notes", meta.notes);
  json.Key("sizes");
  json.StartArray();
  for (const uint64_t size : meta.sizes) {
    json.StartRow();
    json.Member("size", size);
    json.Member("profile", PathOf(directory, size));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  json.Finish();
}

}  // namespace

Result<void> DescribeScale(const std::string& directory, bool json) {
  const auto meta = profile::ReadScale(directory);
  if (!meta) return std::unexpected(meta.error());
  reports::Output out(stdout);
  json ? PrintJson(directory, *meta, out) : PrintText(directory, *meta, out);
  return out.Finish();
}

}  // namespace jprof::cli
