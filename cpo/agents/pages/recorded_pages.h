// Makes the input of the model of pages (cpo/model/page_model.h) from what a measured run left in
// its folder: the logs of libjprof-pages.so, the addresses of page faults, and bursts of
// references.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cpo/allocations/log.h"
#include "cpo/model/references.h"

namespace jprof::cpo {

// Returns the logs of the processes of a run, in the order in which they began; a process has one
// for each program that it executed. A log that cannot be read is left out.
std::vector<Log> ReadLogs(const std::filesystem::path& folder);

// Returns the process's last log, which is that of the program it executed last; null if none.
const Log* LastLogOf(const std::vector<Log>& logs, uint32_t pid);

// Returns the groups of the log, which are numbered as there.
std::vector<Group> GroupsOf(const Log& log);

// Returns for each group how many large pages have to be advised at most at a time, so that all of
// its memory may be on large pages. Those that are not touched take no memory.
std::vector<uint64_t> AdvisedPagesOf(const Log& log);

// Passes the references of the logs of bursts. Each log begins a burst for each of its threads, and
// the threads of a burst follow each other.
std::unique_ptr<ReferenceStream> ReadBursts(const std::vector<std::filesystem::path>& logs);

}  // namespace jprof::cpo
