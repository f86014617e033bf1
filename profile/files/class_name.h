// Shortens the names of classes that the VM or the JDK generates, and of methods that compilers do.
#pragma once

#include <string_view>

namespace jprof::profile {

// Returns the name without the part that differs between processes: Foo$$Lambda$14/0x0800 becomes
// Foo$$Lambda, GeneratedMethodAccessor12 becomes GeneratedMethodAccessor, $Proxy7 becomes $Proxy.
std::string_view Unnumbered(std::string_view class_name);

// Returns the name of a method without the number that a compiler gives to lambdas, in their order
// in the class: lambda$main$3 becomes lambda$main$, Scala's $anonfun$run$2 becomes $anonfun$run$.
std::string_view UnnumberedLambda(std::string_view method_name);

}  // namespace jprof::profile
