// One ELF file: its functions and, if it has DWARF, source positions. Its parts are read on first
// use. Addresses are link addresses. Only this file and source_lines use elfutils, which is trusted
// to handle damaged files; the offsets and sizes that this code uses itself are checked here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "a2n/a2n.h"
#include "a2n/source_lines.h"
#include "a2n/symbol_table.h"
#include "common/fd.h"
#include "common/result.h"

struct Dwfl;
struct Dwfl_Module;
struct Elf;

namespace jprof::a2n {

class Image {
 public:
  // Opens an image. Separate debug files are searched relative to `path`. Fails with only the
  // reason, without the path.
  static Result<std::unique_ptr<Image>> Open(Fd fd, const std::string& path,
                                             const Options& options);
  ~Image();
  Image(const Image&) = delete;

  const std::string& build_id() const { return build_id_; }  // lower-case hex; empty if none
  // Returns the link address of a byte of the file, or nothing if no segment contains it.
  std::optional<uint64_t> LinkAddress(uint64_t file_offset) const;

  bool HasSymbols() { return !Symbols().empty(); }
  const Symbol* Find(uint64_t address) { return Symbols().Find(address); }
  // Returns the name for display, which is valid as long as the image.
  std::string_view NameOf(const Symbol& symbol);

  // Returns the link addresses of the functions and data of this name, which is that of the symbol
  // table, or its demangled form with or without parameters.
  std::vector<uint64_t> AddressesOf(std::string_view name);

  // Finds the source position and inlined callers. There are no frames without DWARF, or if it does
  // not contain this address.
  SourceLines::Found FramesAt(uint64_t address);
  std::vector<uint8_t> CodeAt(uint64_t file_offset, uint64_t length) const;

 private:
  struct Segment {
    uint64_t offset, size, address;
    bool executable;
  };
  struct Session;  // of elfutils

  Image();
  void ReadSegments();
  void ReadSections();
  void ReadBuildId();
  const SymbolTable& Symbols() { return symbols_read_ ? symbols_ : ReadSymbols(); }
  const SymbolTable& ReadSymbols();
  void AddSymbolTable();
  void AddProcedureLinkage();
  bool IsCode(uint64_t address) const;

  bool demangle_ = true;
  std::unique_ptr<Session> session_;
  std::string build_id_;
  std::vector<Segment> segments_;
  std::vector<std::pair<uint64_t, uint64_t>> code_;  // ranges of instructions, sorted

  bool symbols_read_ = false;
  SymbolTable symbols_;
  std::vector<std::string_view> shown_;  // by symbol; null if not requested yet
  std::unordered_map<size_t, std::string> demangled_;
  std::unique_ptr<SourceLines> lines_;
};

// Returns the build id of the file, or an empty text if it cannot be read or has none.
std::string BuildIdOf(const std::string& path);

}  // namespace jprof::a2n
