#include "jprof/hotspot/vm/vm.h"

#include <gtest/gtest.h>

namespace jprof::hotspot {
namespace {

TEST(Vm, SomeNumberedMethodsAreNotReplacedByIntrinsics) {
  EXPECT_TRUE(IsOnlyRecognised("java/lang/Object", "<init>"));
  EXPECT_TRUE(IsOnlyRecognised("java/lang/reflect/Method", "invoke"));
  EXPECT_TRUE(IsOnlyRecognised("java/lang/invoke/LambdaForm$MH+0x0000000007040800", "invoke"));
  EXPECT_TRUE(IsOnlyRecognised("java/lang/invoke/DirectMethodHandle$Holder", "invokeStatic"));
  EXPECT_TRUE(IsOnlyRecognised("java/lang/invoke/VarHandleGuards", "guard_LII_V"));

  EXPECT_FALSE(IsOnlyRecognised("java/lang/Object", "hashCode"));
  EXPECT_FALSE(IsOnlyRecognised("java/lang/Math", "max"));
  EXPECT_FALSE(IsOnlyRecognised("java/lang/invoke/MethodHandleImpl", "isCompileConstant"));
  EXPECT_FALSE(IsOnlyRecognised("com/acme/List$Holder", "get"));
}

}  // namespace
}  // namespace jprof::hotspot
