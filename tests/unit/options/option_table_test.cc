// Tests every row of the table without a list of options, so that a new row is covered.
#include "options/option_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <set>

namespace jprof::options {
namespace {

class EachOption : public testing::TestWithParam<Option> {};

// Values for an agent string: some valid ones that are not the default, and some invalid ones.
struct Values {
  std::vector<std::string> good, bad;
};
struct ValuesOf {
  Values operator()(const ModeOption& target) const {
    if (target.mode != Mode::kScs) return {{""}, {}};
    return {{"", "IDLE=7+ALLOCATED_BYTES=1000", "TIME=5000000"}, {"IDEL", "TIME=49999", "IDLE=0"}};
  }
  Values operator()(const Flag&) const { return {{""}, {}}; }
  Values operator()(const Path&) const {
    return {{"/x%2C%20y%25.jprof", "a=b"}, {"50%", "%zz", "%00"}};
  }
  Values operator()(const List&) const {
    return {{"a", "a+b%2Bc%2C", "1+2+3+4+5+6+7+8"}, {"a+", "a+b+a", "1+2+3+4+5+6+7+8+9"}};
  }
  Values operator()(const Patterns&) const {
    return {{"-x*", "+a.b*+-a.b.c", "a%2Ab%2D"}, {"+", "a++b", "a%"}};
  }
  Values operator()(const Size& t) const {
    return {{fmt::format("{}", t.least), fmt::format("{}", t.least + 1), fmt::format("{}", t.most)},
            {fmt::format("{}", t.least - 1), fmt::format("{}", t.most + 1), "-1M", "x", "1Q"}};
  }
  Values operator()(const Number& t) const {
    return {{"1", fmt::format("{}", t.most)},
            {"0", fmt::format("{}", t.most + 1), "-1", "1x", "1.5"}};
  }
  Values operator()(const Seconds& t) const {
    return {{"1", "1s", "2m", "1h", fmt::format("{}", t.most)},
            {"0", fmt::format("{}", t.most + 1), "300h", "-1", "1x", "1.5s", "s", ""}};
  }
  Values operator()(const Rate&) const {
    return {{"1", "20000"}, {"0", "20001", "-1", "1x", "1.5"}};
  }
  template <typename E>
  Values operator()(const Choice<E>& t) const {
    Values values = {{}, {"sideways", "1"}};
    for (const auto name : t.names) values.good.emplace_back(name);
    return values;
  }
};

std::string NameWith(std::string_view name, const std::string& value) {
  return fmt::format("{}{}{}", name, value.empty() ? "" : "=", value);
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(c));
  return text;
}

// The options after parsing, as text; they need not be valid together.
std::string Printed(std::string_view text) {
  AgentOptions options;
  const Checked applied = ApplyOptions(text, options);
  EXPECT_TRUE(applied) << text;
  return ToString(options);
}

// Options that select a mode in which the option is printed.
std::string ModeFor(const Option& option) {
  const auto* rate = std::get_if<Rate>(&option.target);
  if (rate != nullptr) return rate->sample ? "CALLTREE," : "SCS,";
  const auto* flag = std::get_if<Flag>(&option.target);
  const AgentOptions defaults;
  return flag != nullptr && defaults.*flag->member == flag->value ? "NOSTART," : "";
}

TEST_P(EachOption, IsPrintedAsItWasParsed) {
  const Option& option = GetParam();
  for (const std::string& value : std::visit(ValuesOf(), option.target).good) {
    const std::string text = Printed(ModeFor(option) + NameWith(option.name, value));
    EXPECT_EQ(Printed(text), text);
    AgentOptions once, twice;
    ASSERT_TRUE(ApplyOptions(ModeFor(option) + NameWith(option.name, value), once));
    ASSERT_TRUE(ApplyOptions(text, twice));
    EXPECT_EQ(ValueOf(option, once), ValueOf(option, twice)) << text;
  }
}

TEST_P(EachOption, HasAliasesInAnyCase) {
  const Option& option = GetParam();
  const std::string value = std::visit(ValuesOf(), option.target).good.front();
  const std::string text = Printed(ModeFor(option) + NameWith(option.name, value));
  EXPECT_EQ(Printed(ModeFor(option) + NameWith(Lower(std::string(option.name)), value)), text);
  for (const auto alias : std::views::split(option.aliases, ' ')) {
    if (alias.empty()) continue;
    const std::string name = Lower(std::string(std::string_view(alias)));
    EXPECT_EQ(Printed(ModeFor(option) + NameWith(name, value)), text) << name;
  }
}

TEST_P(EachOption, RefusesValuesInBothInterfaces) {
  const Option& option = GetParam();
  for (const std::string& value : std::visit(ValuesOf(), option.target).bad) {
    AgentOptions options;
    const Checked done = ApplyOptions(NameWith(option.name, value), options);
    ASSERT_FALSE(done) << option.name << " " << value;
    ASSERT_EQ(done.error().option, FindOption(option.name));
    EXPECT_TRUE(Render(done.error(), Interface::kAgentString)
                    .starts_with(fmt::format("{}: ", option.name)));
    EXPECT_TRUE(Render(done.error(), Interface::kCommandLine)
                    .starts_with(fmt::format("{}: ", NameOf(option, Interface::kCommandLine))));
  }
}

TEST_P(EachOption, ReportsWhetherItTakesAValue) {
  const Option& option = GetParam();
  AgentOptions options;
  const bool plain = ApplyOptions(option.name, options).has_value();
  EXPECT_EQ(plain, !option.NeedsValue());
  const std::string value = std::visit(ValuesOf(), option.target).good.back();
  const std::string text = NameWith(option.name, option.TakesValue() ? value : "1");
  EXPECT_EQ(ApplyOptions(text, options).has_value(), option.TakesValue()) << text;
}

TEST_P(EachOption, IsInHelpAndInTheDocument) {
  const Option& option = GetParam();
  EXPECT_TRUE(AgentHelp().contains(fmt::format("\n  {}", option.name)));
  EXPECT_TRUE(OptionsMarkdown().contains(fmt::format("| `{}", option.name)));
  EXPECT_FALSE(option.help.empty() || option.help.contains('\n') || option.help.ends_with('.'));
  EXPECT_EQ(option.flag.empty(), option.commands == kNoCommand);
}

INSTANTIATE_TEST_SUITE_P(Table, EachOption, testing::ValuesIn(OptionTable()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(OptionTable, HasEachNameAndFlagOnce) {
  std::set<std::string_view> names, flags;
  for (const Option& option : OptionTable()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    if (!option.flag.empty()) {
      EXPECT_TRUE(flags.insert(option.flag).second) << option.flag;
    }
    EXPECT_EQ(FindOption(option.name), &option);
  }
  EXPECT_EQ(FindOption("FOCU"), nullptr);
}

// Each conflict, in an agent string and on a command line.
struct Conflict {
  const char* text;
  const char* agent;
  const char* command;  // null: not possible on a command line
};
constexpr Conflict kConflicts[] = {
    {"callflow,keep_intrinsics,probe=jvmti",
     "KEEP_INTRINSICS: with the events of JVMTI no code is compiled; remove it",
     "--keep-intrinsics: with the events of JVMTI no code is compiled; remove it"},
    {"scs,keep_intrinsics",
     "KEEP_INTRINSICS: SCS samples whole stacks and does not support this option; remove it",
     nullptr},
    {"calltree,force_rate", "FORCE_RATE needs SCS or SAMPLE: only sampling has timers",
     "--force-rate needs --sample: only sampling has timers"},
    {"calltree,timer=posix", "TIMER needs SCS or SAMPLE: only sampling has timers",
     "--timer needs --sample: only sampling has timers"},
    {"scs=IDLE,timer=posix", "TIMER: no trigger samples by CPU time; add TIME",
     "--timer: no trigger samples by CPU time; add TIME"},
    {"calltree,metrics=time", "METRICS needs CALLFLOW: CALLTREE only counts calls", nullptr},
    {"code", "CODE needs TPROF: only the log of jitted code contains instructions", nullptr},
    {"callflow,live=exact", "LIVE needs OBJECTS", nullptr},
    {"objects,snapshots=5", "SNAPSHOTS needs LIVE", "--snapshots needs --live"},
    {"objects,live_interval=1M", "LIVE_INTERVAL needs LIVE", "--live-interval needs --live"},
    {"callflow,sample", "SAMPLE needs CALLTREE or SCS: only these take samples", nullptr},
    {"trace,sample", "SAMPLE needs CALLTREE or SCS: only these take samples", nullptr},
    {"locks,nostart",
     "NOSTART needs SCS or SAMPLE or CALLFLOW or CALLTREE or TRACE: the others cannot be started "
     "and stopped",
     nullptr},
    {"calltree,counter=woven,nostart",
     "NOSTART needs COUNTER: methods that count themselves always count: use COUNTER=probe "
     "(--counter probe)",
     nullptr},
    {"after=3", "AFTER needs WITHIN: it counts the calls of these methods",
     "--after needs --within: it counts the calls of these methods"},
    {"objects,within=a.B",
     "WITHIN needs CALLFLOW or CALLTREE or TRACE: the others record what happens anywhere",
     nullptr},
    {"calltree,sample,within=a.B",
     "WITHIN: samples are taken anywhere: remove SAMPLE (--sample), or this", nullptr},
    {"callflow,within=-a.B",
     "WITHIN: name the methods to record; patterns that begin with - can only follow", nullptr},
    {"callflow,within=a.B,train", "WITHIN: TRAIN measures all calls; remove one of the two",
     nullptr},
    {"delay=1", "DELAY needs SCS or SAMPLE: only sampling can be started and stopped", nullptr},
    {"duration=1", "DURATION needs SCS or SAMPLE: only sampling can be started and stopped",
     nullptr},
    {"calltree,sample,objectinfo", "OBJECTINFO needs SCS", nullptr},
    {"calltree,removed", "REMOVED needs OBJECTS", nullptr},
    {"objects,call_sites", "CALL_SITES needs CALLTREE", nullptr},
    {"calltree,distribution=a.B.c",
     "DISTRIBUTION needs CALLFLOW: the others do not measure how long calls take", nullptr},
    {"callflow,distribution=a.B.c,metrics=time+raw:0:1",
     "DISTRIBUTION: calls are timed one by one only if time is the one metric; remove the others",
     "--distribution: calls are timed one by one only if time is the one metric; remove the "
     "others"},
    {"callflow,distribution=-a.B.c",
     "DISTRIBUTION: name the methods to be timed; patterns that begin with - can only follow",
     "--distribution: name the methods to be timed; patterns that begin with - can only follow"},
    {"callflow,distribution=a.B.c,train",
     "DISTRIBUTION: calls are not timed one by one while TRAIN is on", nullptr},
    {"trace,time_every=16",
     "TIME_EVERY needs CALLFLOW: a trace has the time of each event, and the others none", nullptr},
    {"calltree,time_every=16",
     "TIME_EVERY needs CALLFLOW: a trace has the time of each event, and the others none", nullptr},
    {"callflow,time_every=16,metrics=time+raw:0:1",
     "TIME_EVERY: counters are read at every event: remove the other metrics, or this option",
     "--time-every: counters are read at every event: remove the other metrics, or this option"},
    {"callflow,time_every=16,distribution=a.B.c",
     "TIME_EVERY: DISTRIBUTION (--distribution) times each call: remove one of the two", nullptr},
    {"callflow,time_every=16,train",
     "TIME_EVERY: TRAIN measures every interval: remove one of the two", nullptr},
    {"callflow,slow=a.B.c:1s",
     "SLOW needs TRACE: only a trace can keep what belongs to a slow call", nullptr},
    {"trace,slow=a.B.c:1s,trace_mode=wrap",
     "TRACE_MODE: the trace is kept for slow calls, by SLOW (--slow); remove one of the two",
     "--mode: the trace is kept for slow calls, by SLOW (--slow); remove one of the two"},
    {"trace,slow=a.B.c:1h", "SLOW: '1h' is not a time from 1us to 3600s, such as 500us, 10ms or 2s",
     nullptr},
    {"trace,slow_memory=1M", "SLOW_MEMORY needs SLOW", nullptr},
    {"trace,slow=a.B.c:10ms,rotate=1s",
     "ROTATE: a trace that is kept for slow calls, by SLOW (--slow), has no files that follow each "
     "other; remove one of the two",
     nullptr},
    {"calltree,label_from=named",
     "LABEL_FROM: 'named' has no class: name a method with its class, as com.acme.Shop.handle",
     nullptr},
    {"calltree,label_from=a.B.c:0",
     "LABEL_FROM: '0' is not the number of an argument, from 1 to 255", nullptr},
    {"calltree,label_from=a.B.*",
     "LABEL_FROM: 'a.B.*' may match several methods: name one, as com.acme.Shop.handle", nullptr},
    {"calltree,counter=woven,call_sites,label_from=a.B.c",
     "CALL_SITES: call sites and labels exclude each other; remove one of the two", nullptr},
    {"calltree,call_sites,fold_recursion",
     "CALL_SITES: folded recursion does not know where recursive calls are made; remove one of the "
     "two",
     nullptr},
    {"calltree,call_sites,probe=jvmti",
     "CALL_SITES: JVMTI does not report where a method is called; remove one of the two", nullptr},
    {"objects,removed,counter=probe",
     "REMOVED: only woven code counts what it asks for; remove it, or the choice of probes",
     "--removed: only woven code counts what it asks for; remove it, or the choice of probes"},
    {"scs,metrics=time",
     "METRICS: SCS samples whole stacks and does not support this option; remove it", nullptr},
    {"scs,train", "TRAIN: SCS samples whole stacks and does not support this option; remove it",
     nullptr},
    {"scs,focus=app", "FOCUS: SCS samples whole stacks and does not support this option; remove it",
     nullptr},
    {"scs,methods=a",
     "CLASSMETHODS: SCS samples whole stacks and does not support this option; remove it", nullptr},
};

TEST(OptionConflicts, AreReportedWithTheNamesOfTheInterface) {
  for (const Conflict& conflict : kConflicts) {
    AgentOptions options;
    ASSERT_TRUE(ApplyOptions(conflict.text, options)) << conflict.text;
    const Checked checked = Check(options);
    ASSERT_FALSE(checked) << conflict.text;
    EXPECT_EQ(Render(checked.error(), Interface::kAgentString), conflict.agent);
    if (conflict.command == nullptr) continue;
    EXPECT_EQ(Render(checked.error(), Interface::kCommandLine), conflict.command);
  }
}

TEST(OptionConflicts, ACommandLineHasAPathVerbatimAndPatternsWithCommas) {
  AgentOptions options;
  ASSERT_TRUE(Set(*FindOption("OUT"), "50%,a", Interface::kCommandLine, options));
  ASSERT_TRUE(Set(*FindOption("FOCUS"), "a.*,-a.b.*", Interface::kCommandLine, options));
  ASSERT_TRUE(Set(*FindOption("THREADS"), "a,b", Interface::kCommandLine, options));
  EXPECT_EQ(ToString(options), "CALLFLOW,OUT=50%25%2Ca,THREADS=+a%2Cb,FOCUS=+a.*+-a.b.*");
}

TEST(OptionConflicts, FinalizeIsIdempotent) {
  AgentOptions options;
  ASSERT_TRUE(ApplyOptions("SCS=TIME+IDLE,SCS_RATE=10000", options));
  Finalize(options);
  const auto triggers = options.triggers;
  Finalize(options);
  EXPECT_EQ(options.triggers, triggers);
  EXPECT_EQ(options.lowered.size(), 1u);
  options.interrupt_ns = 3000;  // measured: the rate is permitted
  Finalize(options);
  EXPECT_EQ(options.triggers.front().every, 100'000u);
  EXPECT_TRUE(options.lowered.empty());
}

TEST(OptionTable, NamesTheChoicesOfAnOption) {
  const auto timers = ChoicesOf(*FindOption("TIMER"));
  EXPECT_EQ(std::vector(timers.begin(), timers.end()),
            (std::vector<std::string_view>{"auto", "perf", "posix"}));
  EXPECT_TRUE(ChoicesOf(*FindOption("OUT")).empty());
}

}  // namespace
}  // namespace jprof::options
