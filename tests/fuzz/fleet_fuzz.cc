// What a fleet reads: URLs, whose parts are written and parsed as the same; and rows of a server,
// which end where the bytes end.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fleet/push/run_row.h"
#include "fleet/read/selection.h"
#include "fleet/server/row_binary.h"
#include "fleet/server/url.h"

namespace {

void ReadUrl(std::string_view text) {
  const auto url = jprof::fleet::ParseUrl(text);
  if (!url) return;
  if (url->user.empty()) {  // a user is written as it is typed, without what encodes it
    const auto again = jprof::fleet::ParseUrl(url->Text());
    if (!again || again->Text() != url->Text()) std::abort();
  }
  (void)jprof::fleet::SelectionOf(*url, 1);
}

void ReadRows(std::string_view text) {
  jprof::fleet::RowReader rows(text);
  while (!rows.AtEnd()) {
    const size_t before = rows.left();
    (void)rows.Get<uint64_t>();
    const std::string_view name = rows.Text();
    if (rows.left() + name.size() >= before) std::abort();
  }
  (void)jprof::fleet::Unpacked(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ReadUrl(text);
  ReadRows(text);
  return 0;
}
