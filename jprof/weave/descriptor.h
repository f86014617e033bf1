// Splits a method's descriptor into its arguments: (ILjava/lang/String;[J)V has I,
// Ljava/lang/String; and [J.
#pragma once

#include <string_view>

namespace jprof::weave {

class ArgumentTypes {
 public:
  explicit ArgumentTypes(std::string_view descriptor) : rest_(descriptor) {
    ok_ = rest_.starts_with('(');
    if (ok_) rest_.remove_prefix(1);
  }

  // Returns the next argument. It is empty after the last one, or if the descriptor is malformed.
  std::string_view Next() {
    if (!ok_ || rest_.starts_with(')')) return {};
    const size_t size = SizeOfFirst();
    ok_ = size != 0;
    const std::string_view type = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return type;
  }
  bool ok() const { return ok_; }
  // Reads all arguments. Returns whether the descriptor is well formed, including the return type.
  bool All() {
    while (!Next().empty()) continue;
    return ok_ && rest_.size() > 1;
  }

 private:
  size_t SizeOfFirst() const {
    const size_t dimensions = rest_.find_first_not_of('[');
    if (dimensions == std::string_view::npos) return 0;
    if (std::string_view("BCDFIJSZ").find(rest_[dimensions]) != std::string_view::npos)
      return dimensions + 1;
    const size_t end = rest_[dimensions] == 'L' ? rest_.find(';') : std::string_view::npos;
    return end == std::string_view::npos ? 0 : end + 1;
  }

  std::string_view rest_;
  bool ok_ = false;
};

// Returns the name that a CONSTANT_Class of the pool has for the type of an object or array.
inline std::string_view ClassNameOf(std::string_view type) {
  return type.starts_with('L') ? type.substr(1, type.size() - 2) : type;
}

}  // namespace jprof::weave
