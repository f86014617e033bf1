#include "model/itrace/arc_code.h"

#include <algorithm>

#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

// HotSpot calls compiled code at its first instruction, or after the check of the receiver's class.
constexpr uint64_t kLastJittedEntry = 64;

bool Contains(const CodePiece& piece, uint64_t address, uint64_t time) {
  return address >= piece.start && address < piece.end && time >= piece.from && time < piece.until;
}

CodeAt::Kind KindOf(const a2n::Place& place) {
  if (place.outcome != a2n::Outcome::kSymbol) return CodeAt::Kind::kUnnamed;
  if (place.jitted != nullptr) return CodeAt::Kind::kJitted;
  if (place.symbol.ends_with("@plt")) return CodeAt::Kind::kLinkage;
  if (place.symbol.starts_with("_dl_runtime_resolve")) return CodeAt::Kind::kResolver;
  return CodeAt::Kind::kNative;
}

// Returns the file's name without its folders.
std::string ModuleName(std::string_view module) {
  return profile::CleanText(module.substr(module.rfind('/') + 1));
}

std::string NameOf(const a2n::Place& place) {
  if (place.jitted != nullptr) return profile::CleanText(place.symbol);
  const std::string module = ModuleName(place.module);
  if (place.outcome == a2n::Outcome::kSymbol)
    return module + "." + profile::CleanText(place.symbol);
  return module.starts_with('[') ? module : "[" + module + "]";
}

uint64_t EndOf(const CodeChange& change) {
  return change.length > a2n::kForever - change.start ? a2n::kForever
                                                      : change.start + change.length;
}

uint64_t Mirrored(uint64_t time) { return a2n::kForever - 1 - time; }

// Returns the time of the first change of the address after `time`, or kForever if there is none.
uint64_t FirstAfter(const a2n::SpanIndex& mirrored, uint64_t address, uint64_t time) {
  if (time >= a2n::kForever - 1) return a2n::kForever;
  const a2n::Span* next = mirrored.Find(address, Mirrored(time) - 1);
  return next == nullptr ? a2n::kForever : Mirrored(next->since);
}

}  // namespace

std::string ArcFunction::Marked(NameForm form) const {
  if (letter == '-') return name;
  return fmt::format("{}:{}", letter, letter == 'F' ? name : MethodIn(form, name));
}

ArcCode::ArcCode(a2n::Resolver& resolver, std::span<const CodeChange> changes)
    : resolver_(resolver) {
  functions_.push_back({.module = "", .symbol = "(thread)", .name = "(thread)", .letter = '-'});
  functions_.push_back({.module = "", .symbol = "(signal)", .name = "(signal)", .letter = '-'});
  modules_.emplace("", 0);
  for (const CodeChange& change : changes) {
    Process& process = ProcessOf(change.pid);
    process.changes.push_back(change);
    process.index.Add(change);
  }
}

void ArcCode::ChangeIndex::Add(const CodeChange& change) {
  const uint64_t end = EndOf(change);
  past.Add({.start = change.start, .end = end, .since = change.time});
  const a2n::Span mirrored = {.start = change.start, .end = end, .since = Mirrored(change.time)};
  next.Add(mirrored);
  if (change.code) next_code.Add(mirrored);
}

// Limits the time of a piece to the changes around it.
void ArcCode::Limit(const Process& process, CodePiece& piece) {
  if (piece.end - piece.start == 1) {  // code without symbols has a piece for each address
    const a2n::Span* past = process.index.past.Find(piece.start, piece.time);
    if (past != nullptr) piece.from = past->since;
    piece.until = FirstAfter(process.index.next, piece.start, piece.time);
    return;
  }
  for (const CodeChange& change : process.changes) {
    if (change.start >= piece.end || EndOf(change) <= piece.start) continue;
    if (change.time <= piece.time) {
      piece.from = std::max(piece.from, change.time);
    } else {
      piece.until = std::min(piece.until, change.time);
    }
  }
}

ArcCode::Process& ArcCode::ProcessOf(uint32_t pid) {
  if (last_ == nullptr || pid != last_pid_) {
    last_ = &processes_[pid];
    last_pid_ = pid;
  }
  return *last_;
}

uint32_t ArcCode::PieceAt(uint32_t pid, uint64_t address, uint64_t time) {
  Process& process = ProcessOf(pid);
  uint32_t& known = process.pieces[address];
  if (known != FlatMap::kNone) {
    const CodePiece& piece = pieces_[known];
    if (time >= piece.from && time < piece.until) return known;
  }
  known = Find(process, pid, address, time);
  return known;
}

CodeAt ArcCode::At(uint32_t pid, uint64_t address, uint64_t time) {
  CodeAt at = pieces_[PieceAt(pid, address, time)].at;
  at.entry = at.kind == CodeAt::Kind::kJitted ? address - at.start <= kLastJittedEntry
                                              : address == at.start;
  return at;
}

// Returns the known piece of the address, or adds one.
uint32_t ArcCode::Find(Process& process, uint32_t pid, uint64_t address, uint64_t time) {
  const auto above = process.by_start.upper_bound(address);
  if (above != process.by_start.begin()) {
    for (const uint32_t known : std::prev(above)->second) {
      if (Contains(pieces_[known], address, time)) return known;
    }
  }
  const auto [place, resolved] = Resolve(process, pid, address, time);
  CodePiece piece = {.pid = pid, .start = address, .end = address + 1, .time = time};
  piece.at = Describe(place);
  piece.function = piece.at.function;
  piece.jitted = place.jitted;
  if (place.outcome == a2n::Outcome::kSymbol) {
    piece.start = place.symbol_start;
    piece.end = std::max(address + 1, place.symbol_start + place.symbol_size);
  }
  Limit(process, piece);
  piece.time = resolved;
  const auto number = static_cast<uint32_t>(pieces_.size());
  process.by_start[piece.start].push_back(number);
  pieces_.push_back(piece);
  return number;
}

// Returns what is at the address, and the time at which that is known. The tracer reads the
// mappings only now and then, so newer mappings are known only at a later time.
std::pair<a2n::Place, uint64_t> ArcCode::Resolve(const Process& process, uint32_t pid,
                                                 uint64_t address, uint64_t time) {
  const a2n::Place place = resolver_.Resolve(pid, address, time);
  if (place.outcome != a2n::Outcome::kNoModule) return {place, time};
  const uint64_t known = FirstAfter(process.index.next_code, address, time);
  if (known == a2n::kForever) return {place, time};
  return {resolver_.Resolve(pid, address, known), known};
}

CodeAt ArcCode::Describe(const a2n::Place& place) {
  const CodeAt::Kind kind = KindOf(place);
  const auto module =
      modules_.try_emplace(std::string(place.module), static_cast<uint32_t>(modules_.size()));
  return {.function = FunctionOf(place, kind),
          .module = module.first->second,
          .start = kind == CodeAt::Kind::kUnnamed ? 0 : place.symbol_start,
          .kind = kind};
}

uint32_t ArcCode::FunctionOf(const a2n::Place& place, CodeAt::Kind kind) {
  const std::string symbol(kind == CodeAt::Kind::kUnnamed ? "" : place.symbol);
  const char letter = place.jitted != nullptr ? place.jitted->type : 'F';
  const auto [known, is_new] = numbers_.try_emplace(std::string(place.module) + '\0' + symbol,
                                                    static_cast<uint32_t>(functions_.size()));
  if (is_new) {
    functions_.push_back({.module = profile::CleanText(place.module),
                          .symbol = profile::CleanText(symbol),
                          .name = NameOf(place),
                          .letter = letter});
  } else if (letter == 'R') {
    functions_[known->second].letter = 'R';
  }
  return known->second;
}

}  // namespace jprof::model
