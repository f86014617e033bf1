#include "record/attach/jvm.h"

#include <gtest/gtest.h>

namespace jprof::record {
namespace {

JvmMappings Find(std::string_view text) { return FindMappings(procfs::ParseMaps(text)); }

TEST(FindMappings, FindsTheLibrariesOfAJvm) {
  const JvmMappings found = Find(
      "7f00-7f10 r-xp 0 fe:01 1 /opt/jdk-17/lib/server/libjvm.so\n"
      "7f10-7f20 r-xp 0 fe:01 2 /opt/my agents/libjprof.so\n"
      "7f40-7f50 rw-p 0 00:00 0 [heap]\n");
  EXPECT_EQ(found.libjvm, "/opt/jdk-17/lib/server/libjvm.so");
  EXPECT_FALSE(found.openj9);
  ASSERT_EQ(found.agents.size(), 1u);
  EXPECT_EQ(found.agents[0].path, "/opt/my agents/libjprof.so");
  EXPECT_EQ(found.agents[0].start, 0x7f10u);
}

TEST(FindMappings, FindsEachCopyOfTheAgentAndWhereItBegins) {
  const auto found = FindMappings(
      procfs::ParseMaps("1000-2000 r--p 0 fe:01 1 /srv/app/tmp/a/libjprof.so (deleted)\n"
                        "2000-3000 r-xp 1000 fe:01 1 /srv/app/tmp/a/libjprof.so (deleted)\n"
                        "5000-6000 r--p 0 fe:01 2 /srv/apple/libjprof.so\n"),
      "/srv/app");
  ASSERT_EQ(found.agents.size(), 2u);
  EXPECT_EQ(found.agents[0].path, "/tmp/a/libjprof.so");
  EXPECT_EQ(found.agents[0].end, 0x2000u);
  EXPECT_EQ(found.agents[1].path, "/srv/apple/libjprof.so");
}

TEST(FindMappings, ALibraryThatAnUpdateReplacedIsFoundToo) {
  EXPECT_EQ(Find("7f00-7f10 r-xp 0 fe:01 1 /jdk/lib/server/libjvm.so (deleted)\n").libjvm,
            "/jdk/lib/server/libjvm.so");
}

TEST(FindMappings, FindsMusl) {
  EXPECT_EQ(Find("7f00-7f10 r-xp 0 fe:01 1 /lib/ld-musl-aarch64.so.1\n").musl,
            "/lib/ld-musl-aarch64.so.1");
  EXPECT_EQ(Find("7f00-7f10 r-xp 0 fe:01 1 /lib64/ld-linux-x86-64.so.2\n").musl, "");
}

TEST(FindMappings, OtherProcessesHaveNone) {
  const JvmMappings found = Find(
      "7f00-7f10 r-xp 0 fe:01 1 /lib/notlibjvm.so\n7f10-7f20 r-xp 0 fe:01 2 libjvm.so\n"
      "7f20-7f30 r-xp 0 fe:01 1 /lib/libjvm.so.bak\n");
  EXPECT_EQ(found.libjvm, "");
  EXPECT_TRUE(found.agents.empty());
  EXPECT_TRUE(Find("7f00-7f10 r-xp 0 fe:01 1 /j9/lib/default/libj9vm29.so\n").openj9);
}

TEST(VersionOf, ReadsTheReleaseFile) {
  EXPECT_EQ(VersionOf("IMPLEMENTOR=\"X\"\nJAVA_VERSION=\"17.0.15\"\nMORE=1\n"), "17.0.15");
  EXPECT_EQ(VersionOf("JAVA_VERSION=\"25\"\nJAVA_VERSION_DATE=\"2025-09-16\"\n"), "25");
  EXPECT_EQ(VersionOf("JAVA_VERSION_DATE=\"2025-09-16\"\n"), "");
  EXPECT_EQ(VersionOf("JAVA_VERSION=\"17"), "");
  EXPECT_EQ(VersionOf(""), "");
}

}  // namespace
}  // namespace jprof::record
