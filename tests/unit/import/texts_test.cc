// Stacks in texts: collapsed, perf script, and the names in them.
#include <gtest/gtest.h>

#include "profile/import/java_name.h"
#include "profile/import/known_frames.h"
#include "profile/import/periods.h"
#include "tests/unit/import/imported_samples.h"

namespace jprof::profile {
namespace {

using Stacks = std::map<std::string, int64_t>;

std::string Shown(std::string_view text) {
  const auto name = ParseJavaName(text);
  return name ? name->class_name + "." + name->name + name->signature : "none";
}

TEST(JavaName, FormsOfOtherTools) {
  EXPECT_EQ(Shown("java/lang/String.substring"), "java/lang/String.substring");
  EXPECT_EQ(Shown("java.lang.String.substring"), "java/lang/String.substring");
  EXPECT_EQ(Shown("java/lang/String.substring(II)Ljava/lang/String;"),
            "java/lang/String.substring(II)Ljava/lang/String;");
  EXPECT_EQ(Shown("java.lang.String java.lang.String.substring(int, int)"),
            "java/lang/String.substring(II)Ljava/lang/String;");
  EXPECT_EQ(Shown("void app.Main.main(java.lang.String[])"), "app/Main.main([Ljava/lang/String;)V");
  EXPECT_EQ(Shown("java.lang.String.substring(int, int)"), "java/lang/String.substring");
  EXPECT_EQ(Shown("Ljava/lang/String;::substring"), "java/lang/String.substring");
  EXPECT_EQ(Shown("Ljava/lang/String;substring(I)V"), "java/lang/String.substring(I)V");
  EXPECT_EQ(Shown("Main.lambda$main$0"), "Main.lambda$main$0");
  EXPECT_EQ(Shown("app.Main$$Lambda/0x00007f00.run"), "app/Main$$Lambda/0x00007f00.run");
  EXPECT_EQ(Shown("app.Main.<init>"), "app/Main.<init>");
}

TEST(JavaName, FunctionsOfOtherLanguages) {
  for (const char* name :
       {"malloc", "JavaThread::run()", "std::vector<int, std::allocator<int> >::push_back(int)",
        "foo.constprop.0", "foo.cold", "foo.part.1", "libc.so.6", "[unknown]", "main.main.func1",
        "__libc_start_main@GLIBC_2.34", "operator new(unsigned long)", "", "."}) {
    if (std::string_view(name) == "main.main.func1") continue;  // Go's look like Java's
    EXPECT_EQ(Shown(name), "none") << name;
  }
}

TEST(Period, TextsOfTimes) {
  EXPECT_EQ(ParseSpan("20 ms"), 20'000'000u);
  EXPECT_EQ(ParseSpan("10ms"), 10'000'000u);
  EXPECT_EQ(ParseSpan("1.5us"), 1500u);
  EXPECT_EQ(ParseSpan("1 s"), 1'000'000'000u);
  EXPECT_EQ(ParseSpan("250"), 250u);
  for (const char* text : {"", "ms", "-1ms", "0", "1e30 s", "everyChunk", "1 m", "nan", "inf"})
    EXPECT_EQ(ParseSpan(text), 0u) << text;
}

TEST(Period, SumsStayRight) {
  CommonPeriod period;
  for (int i = 0; i < 100; ++i) period.Note(10);
  for (int i = 0; i < 30; ++i) period.Note(4);
  EXPECT_EQ(period.Get(), 10u);
  EXPECT_EQ(period.Others(), 30u);
  int64_t samples = 0;
  for (int i = 0; i < 30; ++i) samples += period.Convert(4);
  EXPECT_EQ(samples, 12);
}

TEST(Collapsed, StacksWithMarks) {
  ImportedSamples read(
      "[main tid=12];app/Main.main_[0];app/Work.run_[j];app/Work.step_[i] 7\n"
      "[main tid=12];app/Main.main_[0];__read;do_syscall_64_[k] 2\n"
      "app.Main.main;app.Work.run 1\n");
  ASSERT_EQ(read.error(), "");
  EXPECT_EQ(read.stacks(), (Stacks{{"main;I app/Main.main;R app/Work.run;L app/Work.step", 7},
                                   {"main;I app/Main.main;F __read;K vmlinux.do_syscall_64", 2},
                                   {"(all threads);R app/Main.main;R app/Work.run", 1}}));
  EXPECT_EQ(read.tree().threads()[0].tid, 12u);
  EXPECT_FALSE(read.run().meta.metrics.at(0).is_cpu_samples());  // no period is known
  EXPECT_TRUE(read.HasNote("--period"));
}

TEST(Collapsed, UnitsOfTimeBecomeSamples) {
  const std::string text = "a;b 25000000\na 15000000\n";
  ImportedSamples read(text, {.period_ns = 10'000'000, .unit = "ns"});
  ASSERT_EQ(read.error(), "");
  EXPECT_EQ(read.tree().samples(), 4u);
  EXPECT_TRUE(read.run().meta.metrics.at(0).is_cpu_samples());
  EXPECT_TRUE(ImportedSamples(text, {.unit = "ns"}).error().contains("--unit ns needs --period"));
  EXPECT_TRUE(ImportedSamples(text, {.unit = "m"}).error().contains("choose samples"));
}

TEST(Collapsed, DamageNamesTheLine) {
  EXPECT_EQ(ImportedSamples("a;b 1\n\na;c x\n", {}, "collapsed").error(),
            "test: line 3: no stack of the form FRAME;FRAME NUMBER: a;c x");
  EXPECT_TRUE(ImportedSamples("a -1\n", {}, "collapsed").error().contains("line 1"));
  EXPECT_TRUE(ImportedSamples("a 99999999999999999999\n", {}, "collapsed").error() != "");
}

constexpr char kPerf[] =
    "# captured on: Mon Jan  1\n"
    "my java 12/34 [001] 100.000000:   10000000 cpu-clock:u: \n"
    "\t    7f00001234 void app.Work.run(int)+0x14 (/tmp/perf-12.map)\n"
    "\t    7f00000034 app.Main.main([Ljava/lang/String;)V+0x4 (/tmp/perf-12.map)\n"
    "\t    7f00abcdef start_thread+0x2f (/usr/lib/x86_64-linux-gnu/libc.so.6)\n"
    "\n"
    "my java 12/34 [000] 101.500000:   10000000 cpu-clock:u: \n"
    "\tffffffff81000010 do_idle+0x10 ([kernel.kallsyms])\n"
    "\tffffffffc0000010 ext4_read+0x10 ([ext4])\n"
    "\t    7f00abc000 [unknown] (/opt/lib/libfoo.so)\n"
    "\n"
    "other 12/35 101.600000: cycles: \n"
    "\t    7f00abc000 work (/opt/app)\n"
    "\n";

TEST(Perf, SamplesOfTheEventThatMostHave) {
  ImportedSamples read(kPerf);
  ASSERT_EQ(read.error(), "");
  EXPECT_EQ(
      read.stacks(),
      (Stacks{{"my java;F /usr/lib/x86_64-linux-gnu/libc.so.6.start_thread;R "
               "app/Main.main([Ljava/lang/String;)V;R app/Work.run(I)V",
               1},
              {"my java;F /opt/lib/libfoo.so.[unknown];K [ext4].ext4_read;K vmlinux.do_idle", 1}}));
  const Metric& metric = read.run().meta.metrics.at(0);
  EXPECT_EQ(metric.period.value, 10'000'000u);
  EXPECT_TRUE(metric.is_cpu_samples());
  EXPECT_EQ(read.run().duration_ns, 1'500'000'000u);
  EXPECT_TRUE(read.HasNote("1 samples of cycles are not imported"));
}

TEST(Perf, AnotherEvent) {
  ImportedSamples read(kPerf, {.event = "cycles"});
  ASSERT_EQ(read.error(), "");
  EXPECT_EQ(read.stacks(), (Stacks{{"other;F /opt/app.work", 1}}));
  EXPECT_FALSE(read.run().meta.metrics.at(0).is_cpu_samples());
  EXPECT_TRUE(ImportedSamples(kPerf, {.event = "cycles", .period_ns = 1'000'000})
                  .run()
                  .meta.metrics.at(0)
                  .is_cpu_samples());
  EXPECT_TRUE(ImportedSamples(kPerf, {.event = "x"}).error().contains("cpu-clock:u (2)"));
}

TEST(Perf, DamageNamesTheLine) {
  const std::string text = "java 1/2 1.5: 10 cycles: \n\tzzz work (/opt/app)\n";
  EXPECT_EQ(ImportedSamples(text).error(),
            "test: line 2: no frame of a stack: zzz work (/opt/app)");
}

TEST(Collapsed, SumsThatAreTooLargeAreErrors) {
  std::string text;
  for (int i = 0; i < 1024; ++i) text += "a;b 9007199254740992\n";
  EXPECT_EQ(ImportedSamples(text).error(),
            "test: the sum of its samples is too large: more than 2^62");
  EXPECT_EQ(ImportedSamples(text.substr(0, text.size() / 2)).error(), "");
  EXPECT_TRUE(ImportedSamples("a 9007199254740992\n", {.period_ns = 1, .unit = "ms"})
                  .error()
                  .contains("line 1: the number of samples is too large"));
}

TEST(Perf, PeriodsThatAreTooLargeAreBounded) {
  const std::string text =
      "java 1/2 1.5: 1 cpu-clock: \n\t12 work (/opt/app)\n\n"
      "java 1/2 1.5: 1 cpu-clock: \n\t12 work (/opt/app)\n\n"
      "java 1/2 1.6: 18446744073709551615 cpu-clock: \n\t12 work (/opt/app)\n\n";
  EXPECT_EQ(ImportedSamples(text).stacks(),
            (Stacks{{"java;F /opt/app.work", (int64_t{1} << 53) + 2}}));
}

TEST(Formats, AreRecognised) {
  EXPECT_TRUE(ImportedSamples("").error().contains("is empty"));
  EXPECT_TRUE(ImportedSamples("hello\n").error().contains("none of the formats"));
  EXPECT_TRUE(ImportedSamples("hello 1\n", {}, "text").error().contains("--format text"));
}

// The line of a frame is none of a sample, whatever its symbol looks like.
TEST(PerfScript, AFrameThatLooksLikeASample) {
  const ImportedSamples imported(
      "java 12/34 [001] 1.5: 10 cpu-clock:u: \n"
      "\t    7f12 weird 12/34 9.9: 77 cycles: +0x1 (/tmp/perf-12.map)\n\n");
  EXPECT_EQ(imported.error(), "");
  EXPECT_EQ(imported.tree().samples(), 1u);
  EXPECT_EQ(imported.run().imported.event, "cpu-clock:u");
  EXPECT_FALSE(imported.HasNote("cycles"));
}

TEST(KnownFrames, AreMadeOnceForEachTextAndModule) {
  KnownFrames known;
  uint32_t made = 0;
  const auto of = [&](std::string_view symbol, std::string_view module, bool is_kernel) {
    return known.Of({.symbol = symbol, .module = module, .is_kernel = is_kernel},
                    [&] { return ForeignFrame{.method = static_cast<MethodId>(++made)}; });
  };
  const std::string copy = "app/Main.run";
  EXPECT_EQ(IndexOf(of("app/Main.run", "", false).method), 1u);
  EXPECT_EQ(IndexOf(of("read", "libc", false).method), 2u);
  EXPECT_EQ(IndexOf(of("read", "libc", true).method), 3u);
  EXPECT_EQ(IndexOf(of("read", "vdso", false).method), 4u);
  EXPECT_EQ(IndexOf(of(copy, "", false).method), 1u);
  EXPECT_EQ(made, 4u);
}

TEST(SampleTree, HoldsWhatFitsIntoItsMemory) {
  for (const bool deep : {true, false}) {
    SampleTree tree(100'000);
    EXPECT_TRUE(tree.Check());
    const uint32_t thread = tree.AddThread({.name = "main"});
    std::vector<ForeignFrame> stack;
    for (int i = 0; i < 20'000; ++i) {
      const std::string name = deep ? "same" : "name" + std::to_string(i);
      stack.assign(static_cast<size_t>(deep ? i % 2000 : 1),
                   {.method = tree.AddMethod({.class_name = "a/B", .name = name}),
                    .kind = FrameKind::kJitted});
      tree.Add(thread, stack, {});
    }
    const auto checked = tree.Check();
    ASSERT_FALSE(checked);
    EXPECT_TRUE(checked.error().message.contains("the available memory does not suffice"));
    EXPECT_LE(tree.nodes().size() * sizeof(SampleTree::Node), 100'000u);
  }
}

}  // namespace
}  // namespace jprof::profile
