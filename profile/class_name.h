// Names of classes that the VM or the JDK generates.
#pragma once

#include <string_view>

namespace jprof::profile {

// The name without what differs between processes: Foo$$Lambda$14/0x0800 -> Foo$$Lambda,
// GeneratedMethodAccessor12 -> GeneratedMethodAccessor, $Proxy7 -> $Proxy.
std::string_view Unnumbered(std::string_view class_name);

}  // namespace jprof::profile
