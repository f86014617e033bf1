#include "reports/print/columns.h"

#include <fmt/format.h>

#include "profile/files/printable_text.h"
#include "reports/print/output.h"
#include "reports/print/units.h"

namespace jprof::reports {

std::string TextOf(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kMissing:
      return "-";
    case Value::Kind::kUnsigned:
      return fmt::format_int(value.integer).str();
    case Value::Kind::kSigned:
      return fmt::format_int(static_cast<int64_t>(value.integer)).str();
    case Value::Kind::kBelow:
      return fmt::format("<{}", static_cast<int64_t>(value.integer));
    case Value::Kind::kNumber:
      return std::string(Tenths(value.number).text());
    case Value::Kind::kFixed:
      return fmt::format("{:.{}f}", value.number, value.digits);
    case Value::Kind::kBool:
      return value.integer != 0 ? "yes" : "no";
    case Value::Kind::kDuration:
      return Duration(value.number);
    case Value::Kind::kDurationBelow:
      return "<" + Duration(value.number);
    case Value::Kind::kText:
      break;
  }
  return profile::CleanText(value.text);
}

}  // namespace jprof::reports
