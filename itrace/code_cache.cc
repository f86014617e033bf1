#include "itrace/code_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

#include "common/errno_text.h"

namespace jprof::itrace {
namespace {

constexpr uint64_t kAreaBytes = uint64_t{4} << 20;
constexpr size_t kMostAreas = 64;
constexpr uint64_t kReserved = 64;  // at the start of an area: a name, the trap for misses
constexpr uint64_t kReach = (uint64_t{1} << 31) - (uint64_t{64} << 20);
constexpr uint64_t kLowest = 0x10000, kBelow2GiB = 0x7fff0000;
constexpr uint64_t kCodePage = 4096;
constexpr size_t kAhead = 12;  // translations at a stop
constexpr uint64_t kLargestTranslation = 32768;

bool IsError(const Result<int64_t>& result) { return !result || (*result < 0 && *result > -4096); }
std::unexpected<Error> CannotMap(const Result<int64_t>& result) {
  if (!result) return std::unexpected(result.error());
  return Fail("the traced process cannot map memory for tracing: {}",
              ErrnoText(static_cast<int>(-*result)));
}

bool Reaches(uint64_t a, uint64_t b) { return (a > b ? a - b : b - a) < kReach; }

std::span<const uint8_t> BytesOf(const void* value, size_t size) {
  return {static_cast<const uint8_t*>(value), size};
}

}  // namespace

CodeCache::CodeCache(Tracee& tracee, pid_t tid, const TranslatorOptions& options)
    : tracee_(tracee), tid_(tid), options_(options) {}

CodeCache::~CodeCache() { Forget(); }

void CodeCache::Forget() {
  if (data_ != nullptr) munmap(data_, sizeof(DataArea));
  data_ = nullptr;
  place_ = 0;
  areas_.clear();
}

Result<void> CodeCache::Map(uint64_t near) {
  const Area* area = NewArea(near);
  if (area == nullptr) return Fail("no memory for translated code near {:#x}", near);
  miss_ = area->start + kReserved - 1;
  const uint8_t trap = 0xcc;
  tracee_.Write(miss_, {&trap, 1});
  constexpr char kName[] = "jprof";
  tracee_.Write(area->start, BytesOf(kName, sizeof(kName)));
  return MapData(area->start);
}

// Maps a file in memory that this process maps, too.
Result<void> CodeCache::MapData(uint64_t name) {
  constexpr uint64_t kSize = sizeof(DataArea);
  tracee_.MapsChanged();
  place_ = FindGap(tracee_.maps(), kSize + kGuardBytes, kLowest, kBelow2GiB, kBelow2GiB);
  if (place_ == 0) return Fail("the traced process has no free memory below 2 GiB");
  tracee_.MapsChanged();
  const auto reserved = tracee_.Call(
      tid_, SYS_mmap,
      {place_, kSize + kGuardBytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, ~uint64_t{0}, 0});
  if (IsError(reserved)) return CannotMap(reserved);
  const auto file = tracee_.Call(tid_, SYS_memfd_create, {name, MFD_CLOEXEC});
  if (IsError(file)) return CannotMap(file);
  const auto fd = static_cast<uint64_t>(*file);
  const auto sized = tracee_.Call(tid_, SYS_ftruncate, {fd, kSize});
  const auto mapped = tracee_.Call(
      tid_, SYS_mmap, {place_, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0});
  const std::string path =
      fmt::format("{}/fd/{}", procfs::Directory(static_cast<uint32_t>(tid_)), fd);
  const Fd ours(open(path.c_str(), O_RDWR | O_CLOEXEC));
  tracee_.Call(tid_, SYS_close, {fd});
  if (IsError(sized) || IsError(mapped)) return CannotMap(mapped);
  if (!ours) return Fail("cannot open {}: {}", path, ErrnoText());
  void* const data = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, ours.get(), 0);
  if (data == MAP_FAILED) return Fail("cannot map memory: {}", ErrnoText());
  data_ = static_cast<DataArea*>(data);
  tracee_.Call(tid_, SYS_madvise, {place_, kSize + kGuardBytes, MADV_DONTFORK});
  tracee_.Call(tid_, SYS_madvise, {place_, kSize + kGuardBytes, MADV_DONTDUMP});
  ResetTable();
  return {};
}

void CodeCache::ResetTable() {
  std::ranges::fill(data_->table, miss_);
  data_->ring = ring_start();
}

void CodeCache::Unmap() {
  for (const Area& area : areas_) tracee_.Call(tid_, SYS_munmap, {area.start, kAreaBytes});
  if (place_ != 0) tracee_.Call(tid_, SYS_munmap, {place_, sizeof(DataArea) + kGuardBytes});
  tracee_.MapsChanged();
  Forget();
}

CodeCache::Area* CodeCache::NewArea(uint64_t near) {
  if (areas_.size() == kMostAreas) return nullptr;
  tracee_.MapsChanged();  // perhaps by a thread that is not traced
  const uint64_t lowest = near > kReach ? near - kReach : kLowest;
  const uint64_t place =
      FindGap(tracee_.maps(), kAreaBytes, std::max(lowest, kLowest), near + kReach, near);
  if (place == 0 || !Reaches(place, near)) return nullptr;
  const auto mapped = tracee_.Call(
      tid_, SYS_mmap,
      {place, kAreaBytes, PROT_READ | PROT_EXEC,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, ~uint64_t{0}, 0});
  tracee_.MapsChanged();
  if (IsError(mapped) || static_cast<uint64_t>(*mapped) != place) return nullptr;
  tracee_.Call(tid_, SYS_madvise, {place, kAreaBytes, MADV_DONTFORK});
  areas_.push_back({place, kReserved});
  return &areas_.back();
}

CodeCache::Area* CodeCache::AreaFor(uint64_t original, uint64_t bytes) {
  for (Area& area : areas_) {
    if (area.used + bytes <= kAreaBytes && Reaches(area.start, original)) return &area;
  }
  return NewArea(original);
}

uint64_t CodeCache::Take(Area& area, uint64_t bytes) {
  const uint64_t place = area.start + area.used;
  area.used += (bytes + 15) & ~uint64_t{15};
  return place;
}

void CodeCache::Flush() {
  by_place_.clear();
  by_start_.clear();
  indirect_.clear();
  waiting_.clear();
  exits_.clear();
  pages_.clear();
  for (Area& area : areas_) area.used = kReserved;
  ResetTable();
  ++flushes_;
}

uint64_t CodeCache::Enter(uint64_t original) {
  if (const auto known = by_start_.find(original); known != by_start_.end())
    return known->second->at + known->second->entry;
  const Translation* translation = Make(original);
  if (translation == nullptr) return 0;
  MakeAhead(*translation);
  return translation->at + translation->entry;
}

const Translation* CodeCache::Make(uint64_t original) {
  if (const auto known = by_start_.find(original); known != by_start_.end()) return known->second;
  Area* area = AreaFor(original, kLargestTranslation);
  if (area == nullptr) return nullptr;
  auto made = std::make_unique<Translation>(TranslateAt(original, *area));
  Take(*area, made->bytes.size());
  exits_.insert(exits_.end(), made->exits.begin(), made->exits.end());
  LinkNew(*made);
  if (!tracee_.Write(made->at, made->bytes)) return nullptr;
  ++translated_;
  made->bytes = std::vector<uint8_t>(made->bytes.size());
  const Translation* result = made.get();
  by_start_[original] = result;
  by_place_[made->at] = std::move(made);
  if (const auto waiting = waiting_.find(original); waiting != waiting_.end()) {
    const auto links = std::move(waiting->second);
    waiting_.erase(waiting);
    for (const Waiting& link : links) Link(*link.from, link.exit, result->at + result->entry);
  }
  return result;
}

Translation CodeCache::TranslateAt(uint64_t original, Area& area) {
  std::vector<uint8_t> code(options_.most_bytes + kLongestX86);
  const bool constant = tracee_.Constant(original);
  if (constant) {
    const uint64_t end = tracee_.MappingOf(original)->end;
    code.resize(std::min<uint64_t>(code.size(), end - original));
  }
  code.resize(tracee_.Read(original, code));
  const Source source = {
      .start = original, .code = code, .checked = !constant, .stops = [this](uint64_t address) {
        return stops_.contains(address);
      }};
  Translation made =
      Translate(source, options_, area.start + area.used, static_cast<uint32_t>(place_), exits());
  if (constant) {
    pages_.insert(made.start / kCodePage);
    pages_.insert(made.end / kCodePage);
  }
  return made;
}

// Sets the exits of a translation to what has been translated already. Call this before its bytes
// are written.
void CodeCache::LinkNew(Translation& made) {
  for (uint32_t i = 0; i < made.exits.size(); ++i) {
    const CodeExit& exit = made.exits[i];
    if (exit.jump == 0) continue;
    const auto known = by_start_.find(exit.to);
    if (known == by_start_.end()) {
      waiting_[exit.to].push_back({&made, i});
      continue;
    }
    const uint64_t after = made.at + exit.jump + 4;
    const uint64_t target = JumpTarget(after, known->second->at + known->second->entry);
    const auto relative = static_cast<uint32_t>(target - after);
    std::memcpy(&made.bytes[exit.jump], &relative, 4);
  }
}

// Returns where a jump that ends at `after` has to lead: to the target, or to a jump to it by its
// address.
uint64_t CodeCache::JumpTarget(uint64_t after, uint64_t target) {
  if (Reaches(after, target)) return target;
  Area* area = AreaFor(after, 64);
  if (area == nullptr) return miss_;  // impossible, as the area of the jump itself has space
  const uint64_t place = Take(*area, 16);
  uint8_t jump[14] = {0xff, 0x25};
  std::memcpy(jump + 6, &target, 8);
  tracee_.Write(place, jump);
  return place;
}

void CodeCache::Link(const Translation& from, uint32_t exit, uint64_t entry) {
  const uint64_t after = from.at + from.exits[exit].jump + 4;
  const auto relative = static_cast<uint32_t>(JumpTarget(after, entry) - after);
  tracee_.Write(after - 4, BytesOf(&relative, 4));
}

uint64_t CodeCache::EnterIndirect(uint64_t original) {
  const Translation* translation = Make(original);
  if (translation == nullptr) return 0;
  AddToTable(*translation);
  MakeAhead(*translation);
  return translation->at + translation->entry;
}

void CodeCache::AddToTable(const Translation& translation) {
  if (indirect_.contains(translation.start)) return;
  constexpr uint64_t kEntryBytes = 64;
  const uint64_t entry = translation.at + translation.entry;
  Area* area = AreaFor(entry, kEntryBytes);
  if (area == nullptr) return;
  indirect_.insert(translation.start);
  const uint64_t place = Take(*area, kEntryBytes);
  uint64_t& first = data_->table[translation.start % kTableEntries];
  const auto code =
      IndirectEntry(translation.start, entry, place, static_cast<uint32_t>(place_), first);
  if (tracee_.Write(place, code)) first = place;
}

// Translates some of what will probably be executed next, because a stop of the thread costs more
// than a translation.
void CodeCache::MakeAhead(const Translation& first) {
  std::vector<const Translation*> made = {&first};
  for (size_t i = 0; i < made.size() && made.size() < kAhead; ++i) {
    for (const CodeExit& exit : made[i]->exits) {
      if (exit.jump != 0 && !by_start_.contains(exit.to)) {
        const Translation* target = Make(exit.to);
        if (target == nullptr) return;
        made.push_back(target);
      }
      if (exit.next != 0 && !indirect_.contains(exit.next)) {
        const Translation* target = Make(exit.next);
        if (target == nullptr) return;
        AddToTable(*target);
        made.push_back(target);
      }
    }
  }
}

uint64_t CodeCache::Renew(const Translation& old) {
  by_start_.erase(old.start);
  tracee_.MapsChanged();
  const uint64_t entry = Enter(old.start);
  if (entry == 0) return 0;
  const uint64_t after = old.at + old.entry + 5;
  const auto relative = static_cast<uint32_t>(JumpTarget(after, entry) - after);
  uint8_t jump[5] = {0xe9};
  std::memcpy(jump + 1, &relative, 4);
  tracee_.Write(old.at + old.entry, jump);
  return entry;
}

bool CodeCache::Contains(uint64_t address) const {
  return std::ranges::any_of(areas_, [address](const Area& area) {
    return address >= area.start && address < area.start + kAreaBytes;
  });
}

bool CodeCache::worn() const {
  uint64_t used = 0;
  for (const Area& area : areas_) used += area.used;
  return used > kAreaBytes / 8;
}

bool CodeCache::InGuard(uint64_t address) const {
  return place_ != 0 && address + kLongEntry >= ring_end() && address < ring_end() + kGuardBytes;
}

const Translation* CodeCache::Find(uint64_t address) const {
  const auto after = by_place_.upper_bound(address);
  if (after == by_place_.begin()) return nullptr;
  const Translation* translation = std::prev(after)->second.get();
  return address < translation->at + translation->bytes.size() ? translation : nullptr;
}

const CodePoint* CodeCache::PointAt(const Translation& translation, uint64_t address) {
  const auto offset = static_cast<uint32_t>(address - translation.at);
  const auto after = std::ranges::upper_bound(translation.points, offset, {}, &CodePoint::offset);
  return after == translation.points.begin() ? nullptr : &*std::prev(after);
}

const CodeTrap* CodeCache::TrapAt(const Translation& translation, uint64_t address) {
  const auto offset = static_cast<uint32_t>(address - translation.at);
  const auto found = std::ranges::find(translation.traps, offset, &CodeTrap::offset);
  return found == translation.traps.end() ? nullptr : &*found;
}

bool CodeCache::Touches(uint64_t start, uint64_t end) const {
  const auto page = pages_.lower_bound(start / kCodePage);
  return page != pages_.end() && *page <= (end - 1) / kCodePage;
}

void CodeCache::AddStop(uint64_t original) {
  if (!stops_.insert(original).second) return;
  const bool translated = std::ranges::any_of(by_place_, [original](const auto& entry) {
    return entry.second->start <= original && original < entry.second->end;
  });
  if (translated) Flush();
}

void CodeCache::ClearStops() {
  if (stops_.empty()) return;
  stops_.clear();
  Flush();
}

}  // namespace jprof::itrace
