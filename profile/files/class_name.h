// Shortens the names of classes that the VM or the JDK generates.
#pragma once

#include <string_view>

namespace jprof::profile {

// Returns the name without the part that differs between processes: Foo$$Lambda$14/0x0800 becomes
// Foo$$Lambda, GeneratedMethodAccessor12 becomes GeneratedMethodAccessor, $Proxy7 becomes $Proxy.
std::string_view Unnumbered(std::string_view class_name);

}  // namespace jprof::profile
