// Escapes text for GitHub's Markdown.
#pragma once

#include <string>
#include <string_view>

namespace jprof::reports {

// Escapes what Markdown or HTML would read as markup. Blanks at the beginning, which indent a name,
// become blanks that Markdown keeps.
std::string EscapedMarkdown(std::string_view text);

}  // namespace jprof::reports
