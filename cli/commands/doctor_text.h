// Formats the findings of `jprof doctor`. Pure.
#pragma once

#include <string>
#include <string_view>

#include "record/doctor/doctor_check.h"
#include "reports/print/formats.h"

namespace jprof::cli {

inline constexpr reports::Format kDoctorFormats[] = {reports::Format::kText,
                                                     reports::Format::kJson};

std::string_view VerdictName(record::DoctorCheck::Verdict verdict);

// Returns one aligned line per check: verdict, name, detail -> remedy. Longer lines continue
// below their detail.
std::string DoctorText(const record::DoctorChecks& checks);

}  // namespace jprof::cli
