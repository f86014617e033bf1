#include "profile/read/imported.h"

#include <fcntl.h>

#include <nlohmann/json.hpp>

#include "common/fd.h"
#include "profile/files/json_fields.h"
#include "profile/files/printable_text.h"
#include "profile/read/reader_file.h"

namespace jprof::profile {
namespace {

constexpr uint64_t kImportedLimit = 16 << 20;

}  // namespace

std::string Imported::Text() const {
  std::string text = file + ": " + format;
  if (!version.empty()) text += " " + version;
  if (!event.empty()) text += ", " + event;
  return CleanText(text);
}

std::string ToJson(const Imported& imported) {
  const nlohmann::json root = {{"format", imported.format},
                               {"version", imported.version},
                               {"file", imported.file},
                               {"event", imported.event},
                               {"notes", imported.notes}};
  return root.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Imported ParseImported(std::string_view text) {
  Imported imported = {.format = "unknown"};
  const auto root = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const JsonFields fields(root);
  fields.Read("format", imported.format);
  fields.Read("version", imported.version);
  fields.Read("file", imported.file);
  fields.Read("event", imported.event);
  imported.notes = fields.Texts("notes");
  return imported;
}

std::optional<Imported> ReadImported(const std::string& directory) {
  const Fd folder(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const ReaderFile file(folder.get(), kImportedFile);
  if (!file.exists()) return std::nullopt;
  return ParseImported(file.ReadAll(kImportedLimit));
}

}  // namespace jprof::profile
