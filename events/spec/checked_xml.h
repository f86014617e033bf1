// Reads an XML text that may be hostile and validates it against the schema of specifications. It
// hides libxml2.
//
// Refuses document types, because entities could name files or grow without bound, and texts of
// more than kMostBytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::events {

// The contents of events.xsd.
extern const char kSchema[];
extern const unsigned kSchemaSize;

inline constexpr size_t kMostBytes = 1 << 18;

struct Place {
  int line = 0, column = 0;  // from 1; the column counts bytes
};

struct Element {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string text;  // white space is collapsed
  std::vector<Element> children;
  Place place;  // of its '<'

  // Returns the attribute's value; empty if it has none.
  std::string_view operator[](std::string_view attribute) const;
  // Returns the first child with this name, or null.
  const Element* Child(std::string_view child) const;
};

// Returns the root element. Fails with FILE:LINE:COLUMN and what is wrong there; `file` is only
// named in messages.
Result<Element> ReadCheckedXml(std::string_view text, std::string_view file);

}  // namespace jprof::events
