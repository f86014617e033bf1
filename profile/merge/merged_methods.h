// The methods of a merged profile.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/result.h"
#include "profile/read/reader.h"

namespace jprof::profile {

// States whether numbers of generated classes are left out, which differ between processes.
enum class ClassNames : uint8_t { kUnnumbered, kExact };

// Methods by name. Ids are dense from 1; method 1 stands for all methods without a name.
class MergedMethods {
 public:
  explicit MergedMethods(ClassNames names = ClassNames::kUnnumbered);

  // Returns the id of the method, which is added if it is new. Fails if there are too many methods.
  Result<MethodId> Add(const MethodName& name);

  // Returns the name of a method that was added. The texts live as long as this object.
  MethodName operator[](MethodId id) const;

  size_t size() const { return records_.size(); }
  // Returns how many of them have one of these flags.
  uint32_t CountWith(uint16_t flags) const;
  // Returns the text of the file `methods`.
  std::string Text() const;

 private:
  struct Entry {
    uint16_t flags = 0;
    uint16_t lengths[3] = {};
    const std::string* key = nullptr;  // in ids_
  };
  ClassNames names_;
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<Entry> records_;  // [id - 1]
};

}  // namespace jprof::profile
