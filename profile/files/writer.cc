#include "profile/files/writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "common/errno_text.h"
#include "common/private_file.h"
#include "profile/files/unused_directory.h"

namespace jprof::profile {
namespace {

constexpr uint32_t kMaxThreads = 1u << 20;
constexpr size_t kMaxMethodsBytes = 4ull << 30;
constexpr uint64_t kMaxNodes = 0xfffffff0ull;
constexpr size_t kMaxTrainBytes = 8ull << 30;
constexpr size_t kMaxLockBytes = 64ull << 20;
constexpr size_t kMaxLiveBytes = 4ull << 30;
constexpr size_t kMaxDistributionBytes = 256ull << 20;  // 21 thousand contexts
constexpr size_t kMaxSlowBytes = 64ull << 20;           // 699 thousand calls
constexpr size_t kShareOfAddresses = 16;

// Returns the limit on the size of files (ulimit -f) if it caused this error, else 0.
uint64_t FileSizeLimit(int error) {
  rlimit limit = {};
  const bool known = error == EFBIG && getrlimit(RLIMIT_FSIZE, &limit) == 0;
  return known && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : 0;
}

// Returns the limit of address space (ulimit -v), or RLIM_INFINITY.
rlim_t AddressLimit() {
  rlimit limit = {};
  return getrlimit(RLIMIT_AS, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

// Returns how many bytes to reserve for a file that rarely grows to `most`: all, or a share of the
// limit of address space, most of which the program needs.
size_t UpTo(size_t most) {
  const rlim_t limit = AddressLimit();
  return limit == RLIM_INFINITY ? most : std::min<size_t>(most, limit / kShareOfAddresses);
}

std::unexpected<Error> WhyNotMade(const WriterOptions& options, int error) {
  if (error == ENOMEM && options.node_region != 0) {
    return Fail(
        "cannot reserve addresses for the call tree: the address space "
        "is limited (ulimit -v), or earlier recordings of this process "
        "have used it up; raise the limit, or restart the process");
  }
  const rlim_t addresses = AddressLimit();
  if (error == ENOMEM && addresses != RLIM_INFINITY) {
    return Fail(
        "cannot reserve addresses for the profile: the address space is limited to {} KiB "
        "(ulimit -v); raise this limit{}",
        addresses >> 10,
        options.trace ? ""
                      : ", or lower the memory limit of the call tree, for example by "
                        "--tree-memory 64M (agent: TREE_MEMORY=64M)");
  }
  if (const uint64_t size = FileSizeLimit(error); size != 0) {
    return Fail("cannot make the profile in {}: file size limit of {} bytes (ulimit -f)",
                options.directory, size);
  }
  return Fail("cannot make the profile in {}: {}", options.directory, ErrnoText(error));
}

// Removes those files that are open: another file of one of these names stays.
void RemoveMade(int directory_fd,
                std::initializer_list<std::pair<const MappedFile*, const char*>> files) {
  for (const auto& [file, name] : files)
    if (file->open()) unlinkat(directory_fd, name, 0);
}

}  // namespace

Result<void> Writer::Open(const WriterOptions& options) {
  const char* directory = options.directory.c_str();
  if (!options.directory_is_made && mkdir(directory, kPrivateDirectory) != 0) {
    return Fail("cannot make the profile directory {}: {}", options.directory, ErrnoText());
  }
  if (!directory_.Open(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY)) {
    auto why = Fail("cannot open {}: {}", options.directory, ErrnoText());
    RemoveUnused(directory);
    return why;
  }

  metric_count_ = std::max(1u, options.metric_count);
  // The tree of a trace has only the threads' roots.
  const size_t tree_bytes = options.trace ? UpTo(options.tree_memory) : options.tree_memory;
  const uint64_t limit = std::min(tree_bytes / sizeof(Node), kMaxNodes * 8 / 9);
  node_reserve_ = limit / 8 + 65536;
  keeps_nodes_ = options.node_region != 0;
  keeps_extra_ = options.locks;
  // A whole region is mapped if one is required, so that no other file is mapped into it.
  const uint64_t max_nodes = std::max(limit + node_reserve_, options.node_region / sizeof(Node));
  const size_t extra_bytes = (metric_count_ - 1) * sizeof(int64_t);
  const int folder = directory_.Get();
  const bool made =
      control_.Create(folder, kControlFile,
                      UpTo(kControlHeaderBytes + kMaxThreads * sizeof(ThreadRecord))) &&
      control_.Ensure(kControlHeaderBytes) &&
      nodes_.Create(folder, kNodesFile, max_nodes * sizeof(Node), options.node_addresses) &&
      nodes_.Ensure(sizeof(Node)) &&
      (extra_bytes == 0 || extra_.Create(folder, kExtraFile, max_nodes * extra_bytes)) &&
      methods_.Create(folder, kMethodsFile, UpTo(kMaxMethodsBytes)) && methods_.Ensure(1) &&
      (!options.trace || trace_.Create(folder, kTraceFile, UpTo(options.trace_bytes_limit))) &&
      (!options.train || train_.Create(folder, kTrainFile, UpTo(kMaxTrainBytes))) &&
      (!options.locks || locks_.Create(folder, kLocksFile, UpTo(kMaxLockBytes))) &&
      (!options.live || live_.Create(folder, kLiveFile, UpTo(kMaxLiveBytes))) &&
      (!options.distributions ||
       distributions_.Create(folder, kDistributionsFile, UpTo(kMaxDistributionBytes))) &&
      (!options.slow_calls || slow_calls_.Create(folder, kSlowCallsFile, UpTo(kMaxSlowBytes)));
  if (!made) {
    auto why = WhyNotMade(options, errno);
    RemoveMade(folder, {{&control_, kControlFile},
                        {&nodes_, kNodesFile},
                        {&extra_, kExtraFile},
                        {&methods_, kMethodsFile},
                        {&trace_, kTraceFile},
                        {&train_, kTrainFile},
                        {&locks_, kLocksFile},
                        {&live_, kLiveFile},
                        {&distributions_, kDistributionsFile},
                        {&slow_calls_, kSlowCallsFile}});
    Close();
    RemoveUnused(directory);
    return why;
  }

  header_ = reinterpret_cast<ControlHeader*>(control_.data());
  *header_ = ControlHeader{};
  header_->version = kFormatVersion;
  header_->metric_count = metric_count_;
  header_->node_count = 1;  // node 0 is never used
  header_->node_limit = limit;
  std::memcpy(header_->magic, kMagic, sizeof kMagic);  // last: from here on it is a profile
  return {};
}

void NoteFailedGrowth(ControlHeader& header, int error) {
  if (error == 0) return;
  if (const uint64_t limit = FileSizeLimit(error); limit != 0) header.file_size_limit = limit;
  header.growth_error = static_cast<uint32_t>(error);
  __atomic_store_n(&header.disk_full, 1, __ATOMIC_RELEASE);
}

void NoteUncounted(UncountedRecord& record, std::string_view name) {
  constexpr std::string_view kSeparator = ", ";
  const size_t used = strnlen(record.names, std::size(record.names));
  const std::string_view separator = kSeparator.substr(0, used == 0 ? 0 : kSeparator.size());
  ++record.count;
  // The end of a path is the most informative part.
  if (used == 0 && name.size() >= std::size(record.names))
    name.remove_prefix(name.size() + 1 - std::size(record.names));
  // The last byte of `names` stays 0.
  if (used + separator.size() + name.size() >= std::size(record.names)) return;
  std::memcpy(record.names + used, separator.data(), separator.size());
  std::memcpy(record.names + used + separator.size(), name.data(), name.size());
}

bool Writer::Grow(MappedFile& file, size_t bytes) {
  // Do not retry: a request to the file system at every event would cost more than the program
  // itself.
  if (__atomic_load_n(&header_->disk_full, __ATOMIC_RELAXED)) return bytes <= file.size();
  if (file.Ensure(bytes)) return true;
  NoteFailedGrowth(*header_, errno);
  return false;
}

template <typename Used, typename HasRoom>
bool Writer::Take(Used* used, uint64_t count, HasRoom has_room, Used* first) {
  *first = __atomic_load_n(used, __ATOMIC_ACQUIRE);
  do {
    if (!has_room(*first + count)) return false;
  } while (!__atomic_compare_exchange_n(used, first, static_cast<Used>(*first + count), false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  return true;
}

uint32_t Writer::AllocateNodes(uint32_t count, bool past_cap) {
  const uint64_t limit = header_->node_limit + (past_cap ? node_reserve_ : 0);
  const size_t extra_bytes = (metric_count_ - 1) * sizeof(int64_t);
  const auto has_room = [&](uint64_t end) {
    if (end > limit) {
      __atomic_store_n(&header_->tree_full, 1, __ATOMIC_RELAXED);
      return false;
    }
    return Grow(nodes_, end * sizeof(Node)) &&
           (extra_bytes == 0 || Grow(extra_, end * extra_bytes));
  };
  uint64_t first;
  if (!Take(&header_->node_count, count, has_room, &first)) return 0;
  // This causes one page fault per chunk instead of one per page. Older kernels return EINVAL and
  // fault page by page.
  constexpr size_t kPage = 4096;
  const size_t begin = first * sizeof(Node) / kPage * kPage;
  const size_t bytes = (first + count) * sizeof(Node) - begin;
#ifdef MADV_POPULATE_WRITE
  if (bytes >= 4 * kPage) madvise(nodes_.data() + begin, bytes, MADV_POPULATE_WRITE);
#else
  (void)bytes;
#endif
  return static_cast<uint32_t>(first);
}

ThreadRecord* Writer::AllocateThread() {
  const auto has_room = [&](uint64_t end) {
    return end <= kMaxThreads && Grow(control_, kControlHeaderBytes + end * sizeof(ThreadRecord));
  };
  uint32_t index;
  if (!Take(&header_->thread_count, 1, has_room, &index)) {
    __atomic_fetch_add(&header_->lost_threads, 1, __ATOMIC_RELAXED);
    return nullptr;
  }
  return new (ThreadAt(index)) ThreadRecord{};
}

ThreadRecord* Writer::ThreadAt(uint32_t index) {
  return reinterpret_cast<ThreadRecord*>(control_.data() + kControlHeaderBytes) + index;
}

uint32_t Writer::IndexOf(const ThreadRecord* record) const {
  const auto* first = reinterpret_cast<const ThreadRecord*>(control_.data() + kControlHeaderBytes);
  return static_cast<uint32_t>(record - first);
}

void Writer::ExpectMethod() {
  constexpr size_t kLong = 1024;
  if (!header_->disk_full) {
    methods_.Ensure(__atomic_load_n(&header_->methods_bytes, __ATOMIC_RELAXED) + kLong);
  }
}

MethodId Writer::AddMethod(std::string_view class_name, std::string_view name,
                           std::string_view signature, uint16_t flags) {
  const size_t text = class_name.size() + name.size() + signature.size();
  const size_t bytes = (sizeof(MethodRecord) + text + 7) / 8 * 8;
  const uint64_t offset = header_->methods_bytes;
  const uint32_t id = header_->method_count + 1;
  if (id >= kMethodMask - 1 || !Grow(methods_, offset + bytes)) return kRootMethod;
  MethodRecord record;
  record.bytes = static_cast<uint32_t>(bytes);
  record.id = id;
  record.flags = flags;
  record.class_length = static_cast<uint16_t>(class_name.size());
  record.name_length = static_cast<uint16_t>(name.size());
  record.signature_length = static_cast<uint16_t>(signature.size());
  char* out = methods_.data() + offset;
  std::memcpy(out, &record, sizeof record);
  out += sizeof record;
  for (std::string_view part : {class_name, name, signature}) {
    std::memcpy(out, part.data(), part.size());
    out += part.size();
  }
  if (flags & kMethodFiltered) ++header_->filtered_methods;
  if (flags & kMethodSite) ++header_->sites;
  if (flags & kMethodLabel) ++header_->labels;
  __atomic_store_n(&header_->methods_bytes, offset + bytes, __ATOMIC_RELEASE);
  header_->method_count = id;
  return MethodId{id};
}

TraceBlock* Writer::AllocateTraceBlock() {
  const auto has_room = [&](uint64_t end) { return Grow(trace_, end * kTraceBlockBytes); };
  uint64_t index;
  if (!Take(&header_->trace_blocks, 1, has_room, &index)) return nullptr;
  return new (trace_.data() + index * kTraceBlockBytes) TraceBlock{};
}

LockEdge* Writer::AllocateLockEdge() {
  const auto has_room = [&](uint64_t end) { return Grow(locks_, end * sizeof(LockEdge)); };
  uint64_t first;
  if (!Take(&header_->lock_edges, 1, has_room, &first)) return nullptr;
  return reinterpret_cast<LockEdge*>(locks_.data()) + first;
}

LiveRecord* Writer::AllocateLive() {
  const auto has_room = [&](uint64_t end) { return Grow(live_, end * sizeof(LiveRecord)); };
  uint64_t first;
  if (!Take(&header_->live_records, 1, has_room, &first)) return nullptr;
  return reinterpret_cast<LiveRecord*>(live_.data()) + first;
}

DistributionRecord* Writer::AllocateDistribution() {
  const auto has_room = [&](uint64_t end) {
    return Grow(distributions_, end * sizeof(DistributionRecord));
  };
  uint64_t first;
  if (!Take(&header_->distributions, 1, has_room, &first)) return nullptr;
  return DistributionAt(static_cast<uint32_t>(first));
}

DistributionRecord* Writer::DistributionAt(uint32_t index) {
  return reinterpret_cast<DistributionRecord*>(distributions_.data()) + index;
}

uint32_t Writer::IndexOf(const DistributionRecord* record) const {
  const auto* first = reinterpret_cast<const DistributionRecord*>(distributions_.data());
  return static_cast<uint32_t>(record - first);
}

char* Writer::AllocateSlow() {
  const auto has_room = [&](uint64_t end) { return Grow(slow_calls_, end * sizeof(SlowCall)); };
  uint64_t first;
  if (!Take(&header_->slow_records, 1, has_room, &first)) return nullptr;
  return slow_calls_.data() + first * sizeof(SlowCall);
}

SlowCall* Writer::AllocateSlowCall() { return reinterpret_cast<SlowCall*>(AllocateSlow()); }

SlowCounts* Writer::AllocateSlowCounts() { return reinterpret_cast<SlowCounts*>(AllocateSlow()); }

TrainRecord* Writer::AllocateTrain(uint32_t count) {
  const auto has_room = [&](uint64_t end) { return Grow(train_, end * sizeof(TrainRecord)); };
  uint64_t first;
  if (!Take(&header_->train_records, count, has_room, &first)) return nullptr;
  return reinterpret_cast<TrainRecord*>(train_.data()) + first;
}

void Writer::Finish(uint64_t end_ticks) {
  header_->end_ticks = end_ticks;
  header_->finished = 1;
}

void Writer::Close() {
  const uint64_t nodes = header_ != nullptr ? header_->node_count : 0;
  if (keeps_nodes_) nodes_.CloseButZero(nodes * sizeof(Node));
  if (keeps_extra_) extra_.CloseButZero(nodes * (metric_count_ - 1) * sizeof(int64_t));
  for (MappedFile* file : {&control_, &nodes_, &extra_, &methods_, &trace_, &train_, &locks_,
                           &live_, &distributions_, &slow_calls_})
    file->Close();
  header_ = nullptr;
  directory_.Close();
}

}  // namespace jprof::profile
