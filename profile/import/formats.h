// The formats of other profilers' files. See ForeignFormat for what the functions return.
#pragma once

#include "profile/import/importer.h"

namespace jprof::profile {

bool RecognisesJfr(std::string_view bytes);
Result<ForeignRun> ReadJfr(std::string_view bytes, const ImportOptions& options, SampleTree& tree);

bool RecognisesPprof(std::string_view bytes);
Result<ForeignRun> ReadPprof(std::string_view bytes, const ImportOptions& options,
                             SampleTree& tree);

bool RecognisesPerf(std::string_view bytes);
Result<ForeignRun> ReadPerf(std::string_view bytes, const ImportOptions& options, SampleTree& tree);

bool RecognisesCollapsed(std::string_view bytes);
Result<ForeignRun> ReadCollapsed(std::string_view bytes, const ImportOptions& options,
                                 SampleTree& tree);

}  // namespace jprof::profile
