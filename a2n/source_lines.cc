#include "a2n/source_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <unordered_map>

#include "a2n/demangle.h"

namespace jprof::a2n {
namespace {

constexpr uint32_t kNoScope = ~uint32_t{0};
constexpr int kDeepest = 200;         // nesting of DIEs; deeper is damage
constexpr int kLongestOrigin = 16;    // references from a DIE to the one that names it
constexpr int kMostRanges = 1 << 16;  // of one DIE
// Limits the DIEs of one unit, because damaged links could form a cycle.
constexpr int kMostDies = 1 << 25;

// Calls visit(start, end) for each range of code of the DIE. Code that the linker removed is at 0.
template <typename Visit>
int ForEachRange(Dwarf_Die* die, Visit visit) {
  Dwarf_Addr base = 0, start = 0, end = 0;
  int count = 0;
  for (ptrdiff_t offset = 0; count < kMostRanges; ++count) {
    offset = dwarf_ranges(die, offset, &base, &start, &end);
    if (offset <= 0) break;
    if (start != 0) visit(start, end);
  }
  return count;
}

// Calls visit(child) for each child. Siblings in valid DWARF have ascending offsets; stops where
// they do not.
template <typename Visit>
void ForEachChild(Dwarf_Die* die, Visit visit) {
  Dwarf_Die child;
  if (dwarf_child(die, &child) != 0) return;
  while (true) {
    const Dwarf_Off here = dwarf_dieoffset(&child);
    visit(&child);
    Dwarf_Die next;
    if (dwarf_siblingof(&child, &next) != 0 || dwarf_dieoffset(&next) <= here) return;
    child = next;
  }
}

const char* TextOf(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

uint32_t Number(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0) return 0;
  return static_cast<uint32_t>(value);
}

// Returns the DIE of which this one is an instance. For a method, that is the declaration in its
// class.
Dwarf_Die Origin(Dwarf_Die die) {
  for (int i = 0; i < kLongestOrigin; ++i) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if (dwarf_formref_die(dwarf_attr(&die, DW_AT_abstract_origin, &attribute), &next) == nullptr &&
        dwarf_formref_die(dwarf_attr(&die, DW_AT_specification, &attribute), &next) == nullptr)
      break;
    die = next;
  }
  return die;
}

bool HoldsFunctions(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_common_block:
      return true;
    default:
      return false;
  }
}

bool Qualifies(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
         tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_interface_type;
}

}  // namespace

struct SourceLines::Unit {
  // Represents a function, or one inlined into `parent`.
  struct Scope {
    Dwarf_Die die;
    uint32_t parent = kNoScope;
  };

  Dwarf_Die lines;        // of the unit
  Dwarf_Die scopes_root;  // the same, or that of its split file
  bool read = false;
  int dies = 0;
  std::vector<Scope> scopes;
  IntervalMap owners;  // of code, each owned by a scope
  // Contains "space::Class::" of functions without a linkage name.
  std::unordered_map<Dwarf_Off, std::string> prefixes;
  std::unordered_map<uint32_t, std::string> names;  // of scopes, on demand

  void Walk(Dwarf_Die* die, uint32_t parent, const std::string& prefix, int depth);
  const std::string& NameOf(uint32_t scope, bool demangle);
  std::string MakeName(Dwarf_Die* die, bool demangle) const;
  Found FramesAt(Dwarf_Addr address, bool demangle);
  bool IsPartialName(Dwarf_Die* die);
  const char* FileOf(uint32_t index);
};

void SourceLines::Unit::Walk(Dwarf_Die* die, uint32_t parent, const std::string& prefix,
                             int depth) {
  if (depth > kDeepest || dies > kMostDies) return;
  ForEachChild(die, [&](Dwarf_Die* child) {
    const int tag = dwarf_tag(child);
    if (++dies > kMostDies || !HoldsFunctions(tag)) return;
    uint32_t inside = tag == DW_TAG_subprogram ? kNoScope : parent;
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
      const auto scope = static_cast<uint32_t>(scopes.size());
      if (ForEachRange(child, [&](Dwarf_Addr start, Dwarf_Addr end) {
            owners.Add(start, end, scope);
          }) > 0) {
        scopes.push_back({*child, inside});
        inside = scope;
      }
      // An external function without a linkage name is extern "C": its plain name is the right one.
      if (!prefix.empty() && !dwarf_hasattr(child, DW_AT_linkage_name) &&
          !dwarf_hasattr(child, DW_AT_external))
        prefixes[dwarf_dieoffset(child)] = prefix;
    }
    if (!dwarf_haschildren(child)) return;
    if (Qualifies(tag)) {
      const char* name = dwarf_diename(child);
      if (name == nullptr) name = tag == DW_TAG_namespace ? "(anonymous namespace)" : "(anonymous)";
      Walk(child, inside, prefix + name + "::", depth + 1);
    } else {
      Walk(child, inside, prefix, depth + 1);
    }
  });
}

std::string SourceLines::Unit::MakeName(Dwarf_Die* die, bool demangle) const {
  const char* linkage = TextOf(die, DW_AT_linkage_name);
  if (linkage == nullptr) linkage = TextOf(die, DW_AT_MIPS_linkage_name);
  if (linkage != nullptr) return demangle ? Demangle(linkage) : linkage;
  const char* name = TextOf(die, DW_AT_name);
  if (name == nullptr) return {};
  Dwarf_Die origin = Origin(*die);
  const auto prefix = prefixes.find(dwarf_dieoffset(&origin));
  return prefix == prefixes.end() ? name : prefix->second + name;
}

const std::string& SourceLines::Unit::NameOf(uint32_t scope, bool demangle) {
  const auto [name, made] = names.try_emplace(scope);
  if (made) name->second = MakeName(&scopes[scope].die, demangle);
  return name->second;
}

const char* SourceLines::Unit::FileOf(uint32_t index) {
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (dwarf_getsrcfiles(&scopes_root, &files, &count) != 0 || index >= count) return nullptr;
  return dwarf_filesrc(files, index, nullptr, nullptr);
}

// Returns whether DWARF has only the last component of the name. C++ entities that are local to a
// unit, such as lambdas, may have no linkage name.
bool SourceLines::Unit::IsPartialName(Dwarf_Die* die) {
  const int language = dwarf_srclang(&lines);
  if (language != DW_LANG_C_plus_plus && language != DW_LANG_C_plus_plus_11 &&
      language != DW_LANG_C_plus_plus_14)
    return false;
  Dwarf_Attribute attribute;
  return TextOf(die, DW_AT_linkage_name) == nullptr &&
         TextOf(die, DW_AT_MIPS_linkage_name) == nullptr &&
         dwarf_attr_integrate(die, DW_AT_external, &attribute) == nullptr;
}

SourceLines::Found SourceLines::Unit::FramesAt(Dwarf_Addr address, bool demangle) {
  if (!read) {
    read = true;
    Walk(&scopes_root, kNoScope, "", 0);
    owners.Build();
  }
  Found found{.frames = std::vector<Frame>(1)};
  std::vector<Frame>& frames = found.frames;
  const auto set_source = [](Frame& frame, const char* file, uint32_t line) {
    if (file != nullptr) frame.file = file, frame.line = line;
  };
  if (Dwarf_Line* row = dwarf_getsrc_die(&lines, address)) {
    int line = 0;
    dwarf_lineno(row, &line);
    set_source(frames[0], dwarf_linesrc(row, nullptr, nullptr), static_cast<uint32_t>(line));
  }
  for (uint32_t i = owners.Find(address); i != IntervalMap::kNone;) {
    Scope& scope = scopes[i];
    frames.back().function = NameOf(i, demangle);
    i = scope.parent;
    if (i == kNoScope) {
      found.partial_name = IsPartialName(&scope.die);
      break;
    }
    set_source(frames.emplace_back(), FileOf(Number(&scope.die, DW_AT_call_file)),
               Number(&scope.die, DW_AT_call_line));
  }
  return found;
}

SourceLines::SourceLines(Dwarf* dwarf, uint64_t bias, bool demangle)
    : dwarf_(dwarf), bias_(bias), demangle_(demangle) {
  if (dwarf_ != nullptr) FindUnits();
}

SourceLines::~SourceLines() = default;

// Finds the units by their ranges, because .debug_aranges may be missing.
void SourceLines::FindUnits() {
  Dwarf_CU* unit = nullptr;
  uint8_t type = 0;
  Dwarf_Die die, split;
  while (dwarf_get_units(dwarf_, unit, &unit, nullptr, &type, &die, &split) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    const auto index = static_cast<uint32_t>(units_.size());
    const auto own = [&](Dwarf_Addr start, Dwarf_Addr end) { owners_.Add(start, end, index); };
    const bool is_split = type == DW_UT_skeleton && split.addr != nullptr;
    Dwarf_Die root = is_split ? split : die;
    if (ForEachRange(&die, own) == 0) {
      ForEachChild(&root, [&](Dwarf_Die* child) {
        if (dwarf_tag(child) == DW_TAG_subprogram) ForEachRange(child, own);
      });
    }
    units_.push_back(std::make_unique<Unit>());
    units_.back()->lines = die;
    units_.back()->scopes_root = root;
  }
  owners_.Build();
}

SourceLines::Found SourceLines::FramesAt(uint64_t address) {
  const uint32_t unit = owners_.Find(address - bias_);
  if (unit == IntervalMap::kNone) return {};
  return units_[unit]->FramesAt(address - bias_, demangle_);
}

}  // namespace jprof::a2n
