// The methods of LABEL_FROM: a woven method sets a label at its entry, which is the text of one of
// its arguments.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jprof/weave/weave.h"
#include "options/label_methods.h"
#include "profile/files/layout.h"

namespace jprof::agent {

class LabelArguments {
 public:
  // `items` have been checked (options::Check).
  explicit LabelArguments(const std::vector<std::string>& items);

  // Returns the label that a method sets, or nothing if no item matches. Counts it in `header` for
  // the item. One that matches a method without such an argument, or with one that has no text, is
  // reported by a message.
  std::optional<weave::LabelAtEntry> Of(const weave::Method& method,
                                        profile::ControlHeader& header) const;

 private:
  std::vector<options::LabelMethod> methods_;
};

}  // namespace jprof::agent
