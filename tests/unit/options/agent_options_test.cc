#include "options/agent_options.h"

#include <gtest/gtest.h>

namespace jprof::options {
namespace {

AgentOptions Parse(std::string_view text, std::string_view environment = "") {
  auto options = ParseAgentOptions(text, environment);
  EXPECT_TRUE(options) << text << ": " << options.error().message;
  return options.value_or(AgentOptions{});
}

std::string Problem(std::string_view text) {
  auto options = ParseAgentOptions(text, "");
  if (options) return "none";
  EXPECT_EQ(options.error().kind, Error::Kind::kWrongUse);
  return options.error().message;
}

TEST(AgentOptions, Defaults) {
  const AgentOptions o = Parse("");
  EXPECT_EQ(o.mode, Mode::kCallflow);
  EXPECT_EQ(o.out, "");
  EXPECT_TRUE(o.metrics.empty());
  EXPECT_TRUE(o.threads.Empty());
  EXPECT_TRUE(o.methods.Empty());
  EXPECT_EQ(o.tree_memory, 512u << 20);
  EXPECT_EQ(o.trace_memory, 64u << 20);
  EXPECT_EQ(o.trace_mode, TraceMode::kNormal);
  EXPECT_EQ(o.probe, ProbeChoice::kAuto);
  EXPECT_EQ(o.children, Children::kAuto);
  EXPECT_TRUE(o.start);
  EXPECT_FALSE(o.fold_recursion || o.only_if_free || o.train || o.verbose || o.help);
}

TEST(AgentOptions, ModesInAnyCaseAndLaterWins) {
  EXPECT_EQ(Parse("callflow").mode, Mode::kCallflow);
  EXPECT_EQ(Parse("CallTree").mode, Mode::kCalltree);
  for (const char* name : {"trace", "GENERIC", "CallTrace"})
    EXPECT_EQ(Parse(name).mode, Mode::kTrace);
  EXPECT_EQ(Parse("calltree,trace").mode, Mode::kTrace);
}

TEST(AgentOptions, ValuesKeepTheirCase) {
  const AgentOptions o = Parse("out=/Tmp/A-b=c.jprof,metrics=time+PAPI_TOT_INS+raw:4:c0:0:Loads");
  EXPECT_EQ(o.out, "/Tmp/A-b=c.jprof");
  EXPECT_EQ(o.metrics, (std::vector<std::string>{"time", "PAPI_TOT_INS", "raw:4:c0:0:Loads"}));
  EXPECT_EQ(Parse("LOGPATH=x").out, "x");
}

TEST(AgentOptions, Flags) {
  const AgentOptions o = Parse("fold_recursion,once,children,train,verbose,help");
  EXPECT_TRUE(o.fold_recursion && o.only_if_free && o.children == Children::kAll && o.train &&
              o.verbose && o.help);
  EXPECT_FALSE(Parse("scs,nostart").start);
  EXPECT_TRUE(Parse("scs,nostart,START").start);
}

TEST(AgentOptions, EmptyOptionsAreSkipped) {
  EXPECT_EQ(Parse(",,calltree,,").mode, Mode::kCalltree);
}

TEST(AgentOptions, EnvironmentIsAppended) {
  const AgentOptions o = Parse("callflow,out=a", "out=b,VERBOSE");
  EXPECT_EQ(o.out, "b");
  EXPECT_TRUE(o.verbose);
  EXPECT_EQ(o.text, "callflow,out=a,out=b,VERBOSE");
  EXPECT_EQ(Parse("", "verbose").text, "verbose");
}

TEST(AgentOptions, Sizes) {
  EXPECT_EQ(Parse("tree_memory=1048576").tree_memory, 1u << 20);
  EXPECT_EQ(Parse("tree_memory=2048k").tree_memory, 2u << 20);
  EXPECT_EQ(Parse("TREE_MEMORY=3M").tree_memory, 3u << 20);
  EXPECT_EQ(Parse("tree_memory=16g").tree_memory, 16ull << 30);
  EXPECT_EQ(Parse("tree_memory=227G").tree_memory, 227ull << 30);
  EXPECT_EQ(Parse("trace_memory=64K").trace_memory, 64u << 10);
  for (const char* bad : {"0", "1048575", "1023K", "228G", "256G", "-1M", "M", "1.5M", "1MB", "12Q",
                          " 1M", "1M ", "99999999999999999999", "18014398509481984K"}) {
    EXPECT_EQ(
        Problem(fmt::format("tree_memory={}", bad)),
        fmt::format("TREE_MEMORY: '{}' is not a size from 1M to 227G (bytes, or with K, M or G)",
                    bad));
  }
  EXPECT_EQ(Problem("trace_memory=63K"),
            "TRACE_MEMORY: '63K' is not a size from 64K to 64G (bytes, or with K, M or G)");
}

TEST(AgentOptions, Choices) {
  EXPECT_EQ(Parse("trace_mode=NORMAL").trace_mode, TraceMode::kNormal);
  EXPECT_EQ(Parse("trace_mode=wrap").trace_mode, TraceMode::kWrap);
  EXPECT_EQ(Parse("trace_mode=Continuous").trace_mode, TraceMode::kContinuous);
  EXPECT_EQ(Parse("children").children, Children::kAll);
  EXPECT_EQ(Parse("children=First").children, Children::kFirst);
  EXPECT_EQ(Parse("children=no").children, Children::kNo);
  EXPECT_EQ(Problem("children=one"),
            "CHILDREN: there is no 'one'; choose one of auto, no, first, all");
  EXPECT_EQ(Parse("probe=AUTO").probe, ProbeChoice::kAuto);
  EXPECT_EQ(Parse("probe=hotspot").probe, ProbeChoice::kHotspot);
  EXPECT_EQ(Parse("probe=Jvmti").probe, ProbeChoice::kJvmti);
  EXPECT_EQ(Problem("probe=jvmt"), "PROBE: there is no 'jvmt'; did you mean jvmti?");
  EXPECT_EQ(Problem("trace_mode=x"),
            "TRACE_MODE: there is no 'x'; choose one of normal, wrap, continuous");
}

TEST(AgentOptions, UnknownOptionsNameTheNearest) {
  EXPECT_EQ(Problem("calflow"), "there is no option 'calflow'; did you mean CALLFLOW?");
  EXPECT_EQ(Problem("verbose,tree_mem=1G"),
            "there is no option 'tree_mem'; did you mean TREE_MEMORY?");
  EXPECT_EQ(Problem("classmethod=x"),
            "there is no option 'classmethod'; did you mean CLASSMETHODS?");
  EXPECT_EQ(Problem("fold"), "there is no option 'fold'; did you mean FOLD_RECURSION?");
  EXPECT_EQ(Problem("=x"), "there is no option ''; the option HELP lists all options");
}

TEST(AgentOptions, ScsSamplesByTimeUnlessEventsAreNamed) {
  const AgentOptions plain = Parse("scs");
  EXPECT_EQ(plain.mode, Mode::kScs);
  EXPECT_EQ(plain.triggers, (std::vector<Trigger>{{TriggerKind::kTime, 10'000'000, ""}}));
  EXPECT_EQ(Parse("scs_rate=1000,scs").triggers.front().every, 1'000'000u);
  const AgentOptions events =
      Parse("SCS=ALLOCATED_BYTES=100+IDLE,OBJECTINFO,JAVA_ONLY,NOSTART,DELAY=3,DURATION=4");
  EXPECT_EQ(events.triggers.size(), 2u);
  EXPECT_TRUE(events.object_info && events.java_only && !events.start);
  EXPECT_EQ(events.delay, 3u);
  EXPECT_EQ(events.duration, 4u);
  EXPECT_EQ(Parse(ToString(events)).triggers, events.triggers);
  EXPECT_EQ(ToString(Parse(ToString(events))), ToString(events));
  EXPECT_EQ(Parse("calltree,sample=500").triggers.front().every, 2'000'000u);
}

TEST(AgentOptions, SamplingOptionsRequireSampling) {
  EXPECT_EQ(Problem("callflow,sample"), "SAMPLE needs CALLTREE or SCS: only these take samples");
  EXPECT_FALSE(Parse("callflow,nostart").start);
  EXPECT_EQ(Problem("delay=3"),
            "DELAY needs SCS or SAMPLE: only sampling can be started and stopped");
  EXPECT_EQ(Problem("objectinfo"), "OBJECTINFO needs SCS");
  EXPECT_EQ(Problem("scs,metrics=time"),
            "METRICS: SCS samples whole stacks and does not support this option; remove it");
  EXPECT_EQ(Problem("scs_rate=0"), "SCS_RATE: '0' is not a whole number from 1 to 20000");
  EXPECT_EQ(Problem("scs=MONITOR_WATE"),
            "SCS: there is no event 'MONITOR_WATE'; did you mean MONITOR_WAIT?");
}

// Without a measured cost, 40 us per interrupt are assumed: at most 5,000 samples per second.
TEST(AgentOptions, ARateThatInterruptsCannotServeIsLowered) {
  const AgentOptions fine = Parse("scs,scs_rate=5000");
  EXPECT_EQ(fine.triggers.front().every, 200'000u);
  EXPECT_EQ(fine.triggers.front().requested, 0u);
  EXPECT_TRUE(fine.lowered.empty());
  for (const char* text :
       {"scs,scs_rate=10000", "scs=TIME=100000", "calltree,sample=10000",
        "scs=raw:1:0:0:0:0:cpu-clock=100000", "scs=raw:1:1:0:0:0:task-clock=100000"}) {
    const AgentOptions o = Parse(text);
    ASSERT_EQ(o.triggers.size(), 1u) << text;
    EXPECT_EQ(o.triggers.front().every, 200'000u) << text;
    EXPECT_EQ(o.triggers.front().requested, 100'000u) << text;
    ASSERT_EQ(o.lowered.size(), 1u) << text;
    EXPECT_NE(o.lowered.front().find("at 5,000/s instead of 10,000/s"), std::string::npos) << text;
    EXPECT_EQ(MetricsOf(o.triggers).front().period.value, 200'000u) << text;
    EXPECT_EQ(MetricsOf(o.triggers).front().period.asked, 100'000u) << text;
  }
  for (const char* text : {"scs=raw:1:2:0:0:0:page-faults=1", "scs=ALLOCATED_BYTES=1+IDLE=1"})
    EXPECT_TRUE(Parse(text).lowered.empty()) << text;
}

// The cost that the launcher measured decides; the agent string that it passes parses to the same
// options.
TEST(AgentOptions, TheCostOfAnInterruptIsPassedOn) {
  const AgentOptions slow = Parse("scs=TIME+IDLE,scs_rate=10000,interrupt_ns=100000");
  EXPECT_EQ(slow.triggers.front().every, 500'000u);
  EXPECT_EQ(Parse("scs,scs_rate=10000,interrupt_ns=3000").triggers.front().every, 100'000u);
  for (const AgentOptions& o : {slow, Parse("calltree,sample=9000,interrupt_ns=100000"),
                                Parse("scs=TIME=60000,interrupt_ns=500000")}) {
    const AgentOptions again = Parse(ToString(o));
    EXPECT_EQ(again.triggers, o.triggers) << ToString(o);
    EXPECT_EQ(again.lowered, o.lowered) << ToString(o);
    EXPECT_EQ(again.interrupt_ns, o.interrupt_ns);
  }
  EXPECT_EQ(RequestedRate(slow), 10'000u);
  EXPECT_EQ(RequestedRate(Parse("scs=TIME=100000+raw:1:0:0:0:0:cpu-clock=60000")), 16'667u);
  EXPECT_EQ(RequestedRate(Parse("scs=IDLE")), 0u);
  EXPECT_EQ(Problem("interrupt_ns=500001"),
            "INTERRUPT_NS: '500001' is not a whole number from 1 to 500000");
}

TEST(AgentOptions, AForcedRateIsKeptUpToTheMost) {
  const AgentOptions o = Parse("scs,scs_rate=20000,interrupt_ns=33000,force_rate");
  EXPECT_EQ(o.triggers.front().every, 50'000u);
  EXPECT_TRUE(o.lowered.empty());
  EXPECT_TRUE(Parse(ToString(o)).force_rate);
  EXPECT_EQ(Problem("scs,force_rate,scs_rate=20001"),
            "SCS_RATE: '20001' is not a whole number from 1 to 20000");
  EXPECT_EQ(Problem("calltree,force_rate,sample=20001"),
            "SAMPLE: '20001' is not a whole number from 1 to 20000");
  EXPECT_EQ(Problem("scs=TIME=49999,force_rate"),
            "SCS: TIME=49999: a timer's period is at least 50000 ns (20000 samples a second)");
  EXPECT_EQ(
      Problem("scs=raw:1:0:0:0:0:perf::CPU-CLOCK=1000"),
      "SCS: perf::CPU-CLOCK=1000: a timer's period is at least 50000 ns (20000 samples a second)");
  EXPECT_EQ(Problem("callflow,force_rate"),
            "FORCE_RATE needs SCS or SAMPLE: only sampling has timers");
}

TEST(AgentOptions, Timers) {
  EXPECT_EQ(Parse("scs").timer, ptm::TimerSource::kAny);
  EXPECT_EQ(Parse("scs,timer=PERF").timer, ptm::TimerSource::kPerf);
  EXPECT_EQ(Parse("calltree,sample,timer=posix").timer, ptm::TimerSource::kPosix);
  EXPECT_EQ(Parse(ToString(Parse("scs,timer=posix"))).timer, ptm::TimerSource::kPosix);
  EXPECT_EQ(Parse("timer=posix,scs,timer=auto").timer, ptm::TimerSource::kAny);
  EXPECT_EQ(Problem("scs,timer=posx"), "TIMER: there is no 'posx'; did you mean posix?");
  EXPECT_EQ(Problem("timer=perf"), "TIMER needs SCS or SAMPLE: only sampling has timers");
  EXPECT_EQ(Problem("scs=IDLE,timer=perf"), "TIMER: no trigger samples by CPU time; add TIME");
}

TEST(AgentOptions, TprofIsTheModeUnlessAnotherIsNamed) {
  EXPECT_EQ(Parse("tprof").mode, Mode::kTprof);
  EXPECT_TRUE(Parse("tprof").jit_log);
  EXPECT_FALSE(Parse("tprof").jit_code);
  for (const char* text : {"callflow,tprof", "TPROF,CallFlow"}) {
    EXPECT_EQ(Parse(text).mode, Mode::kCallflow) << text;
    EXPECT_TRUE(Parse(text).jit_log) << text;
  }
  EXPECT_EQ(Parse("tprof", "trace").mode, Mode::kTrace);
  EXPECT_EQ(Parse("", "tprof").mode, Mode::kTprof);
  EXPECT_FALSE(Parse("calltree").jit_log);
  const AgentOptions o = Parse("tprof,code,out=x,once,children,verbose");
  EXPECT_TRUE(o.jit_code && o.only_if_free && o.children == Children::kAll && o.verbose);
}

TEST(AgentOptions, TprofAloneRefusesWhatOnlyCallsHave) {
  EXPECT_EQ(Problem("code"), "CODE needs TPROF: only the log of jitted code contains instructions");
  EXPECT_EQ(Problem("tprof,metrics=time"), "METRICS needs CALLFLOW: TPROF alone records no calls");
  EXPECT_EQ(Problem("tprof,threads=main"), "THREADS needs CALLFLOW: TPROF alone records no calls");
  EXPECT_EQ(Problem("tprof,methods=a/B*"),
            "CLASSMETHODS needs CALLFLOW: TPROF alone records no calls");
  EXPECT_EQ(Problem("tprof,keep_intrinsics"),
            "KEEP_INTRINSICS needs CALLFLOW: TPROF alone records no calls");
  EXPECT_EQ(Problem("train,tprof"), "TRAIN needs CALLFLOW: TPROF alone records no calls");
  EXPECT_EQ(Problem("tprof,callflow,metrics=time,threads=main"), "none");
  EXPECT_EQ(Problem("tproff"), "there is no option 'tproff'; did you mean TPROF?");
  EXPECT_EQ(Problem("tprof=1"), "TPROF: takes no value; remove '=1'");
}

TEST(AgentOptions, Focus) {
  const AgentOptions o = Parse("callflow,focus=com.acme.*-com.acme.util.*,keep_intrinsics");
  EXPECT_EQ(o.focus.items.size(), 2u);
  EXPECT_TRUE(o.keep_intrinsics);
  EXPECT_EQ(ToString(o), "CALLFLOW,FOCUS=+com.acme.*+-com.acme.util.*,KEEP_INTRINSICS");
  EXPECT_EQ(Parse(ToString(o)).focus.items[1].include, false);
  EXPECT_TRUE(Parse("callflow").focus.Empty());
  for (const char* text : {"CALLFLOW,KEEP_INTRINSICS", "CALLTREE,KEEP_INTRINSICS",
                           "TRACE,KEEP_INTRINSICS", "CALLFLOW,KEEP_INTRINSICS,PROBE=hotspot"}) {
    EXPECT_EQ(Problem(text), "none");
    EXPECT_EQ(ToString(Parse(text)), text);
  }
  EXPECT_EQ(Problem("tprof,focus=app"), "FOCUS needs CALLFLOW: TPROF alone records no calls");
  EXPECT_EQ(Problem("scs,focus=app"),
            "FOCUS: SCS samples whole stacks and does not support this option; remove it");
  EXPECT_EQ(Problem("focus"), "FOCUS: needs a value: FOCUS=F");
}

TEST(AgentOptions, ToStringOfTprof) {
  EXPECT_EQ(ToString(AgentOptions{.mode = Mode::kTprof, .jit_log = true}), "TPROF");
  EXPECT_EQ(ToString(AgentOptions{.mode = Mode::kTprof}), "TPROF");
  for (const char* text : {"TPROF", "TPROF,CODE", "CALLFLOW,TPROF", "CALLTREE,TPROF,CODE"}) {
    EXPECT_EQ(ToString(Parse(text)), text);
  }
}

TEST(AgentOptions, ValuesMissingOrTooMany) {
  EXPECT_EQ(Problem("out"), "OUT: needs a value: OUT=DIR");
  EXPECT_EQ(Problem("threads="), "THREADS: needs a value: THREADS=F");
  EXPECT_EQ(Problem("calltree=1"), "CALLTREE: takes no value; remove '=1'");
}

TEST(AgentOptions, Metrics) {
  EXPECT_EQ(Parse("metrics=a+b+c+d+e+f+g+h").metrics.size(), 8u);
  EXPECT_EQ(Problem("metrics=a+b+c+d+e+f+g+h+i"), "METRICS: 9 names; at most 8 are allowed");
  EXPECT_EQ(Problem("metrics=a+b+a"), "METRICS: 'a' is named twice");
  EXPECT_EQ(Problem("metrics=a+"), "METRICS: there is an empty name in 'a+'");
  EXPECT_EQ(Problem("calltree,metrics=time"), "METRICS needs CALLFLOW: CALLTREE only counts calls");
}

TEST(AgentOptions, Escapes) {
  EXPECT_EQ(Parse("out=a%2Cb%20c%25d%2b").out, "a,b c%d+");
  EXPECT_EQ(Parse("metrics=a%2Bb+c").metrics, (std::vector<std::string>{"a+b", "c"}));
  EXPECT_EQ(Problem("out=50%"), "OUT: '%' is not an escape; write %25 for a percent sign");
  EXPECT_EQ(Problem("out=%zz1"), "OUT: '%zz' is not an escape; write %25 for a percent sign");
  EXPECT_EQ(Problem("out=a%00"), "OUT: '%00' is not an escape; write %25 for a percent sign");
}

TEST(AgentOptions, ToStringOfDefaultsIsTheMode) {
  EXPECT_EQ(ToString(AgentOptions{}), "CALLFLOW");
  EXPECT_EQ(ToString(AgentOptions{.mode = Mode::kCalltree}), "CALLTREE");
}

TEST(AgentOptions, ToStringNeedsNoQuotes) {
  const std::string text = ToString(AgentOptions{.out = "/a b/c,d+e%'\"\\\t\xc3\xa9"});
  EXPECT_EQ(text, "CALLFLOW,OUT=/a%20b/c%2Cd%2Be%25%27%22%5C%09%C3%A9");
  EXPECT_EQ(Parse(text).out, "/a b/c,d+e%'\"\\\t\xc3\xa9");
}

void ExpectSameItems(const Filter& a, const Filter& b) {
  ASSERT_EQ(a.items.size(), b.items.size());
  for (size_t i = 0; i < a.items.size(); ++i) {
    EXPECT_EQ(a.items[i].include, b.items[i].include);
    EXPECT_EQ(a.items[i].prefix, b.items[i].prefix);
    EXPECT_EQ(a.items[i].text, b.items[i].text);
  }
}

TEST(AgentOptions, ToStringRoundTrips) {
  AgentOptions o;
  o.mode = Mode::kTrace;
  o.out = "/x, y+z/%41.jprof";
  o.metrics = {"time", "raw:0:1a,2+b", "cpu::EV:u=1"};
  o.threads.items = {{true, true, "pool-1-thread"}, {false, false, "-odd+name*"}, {true, true, ""}};
  o.methods.items = {{false, false, "a/B-c.d"}, {true, true, "com.acme"}, {false, true, "x"}};
  o.tree_memory = (1 << 20) + 1;
  o.trace_memory = 96 << 10;
  o.children = Children::kFirst;
  o.fold_recursion = o.only_if_free = o.train = o.verbose = o.help = true;
  o.trace_mode = TraceMode::kContinuous;
  o.probe = ProbeChoice::kJvmti;
  const AgentOptions p = Parse(ToString(o));
  EXPECT_EQ(p.mode, o.mode);
  EXPECT_EQ(p.out, o.out);
  EXPECT_EQ(p.metrics, o.metrics);
  ExpectSameItems(p.threads, o.threads);
  ExpectSameItems(p.methods, o.methods);
  EXPECT_EQ(p.tree_memory, o.tree_memory);
  EXPECT_EQ(p.trace_memory, o.trace_memory);
  EXPECT_EQ(p.trace_mode, o.trace_mode);
  EXPECT_EQ(p.probe, o.probe);
  EXPECT_TRUE(p.fold_recursion && p.only_if_free && p.children == Children::kFirst && p.train &&
              p.verbose && p.help);
}

// HELP lists every option: each parses, or reports that it needs a value.
TEST(AgentOptions, HelpNamesExistingOptions) {
  for (const char* name :
       {"CALLFLOW",  "CALLTREE",     "TRACE",          "CALLTRACE",   "GENERIC",
        "OUT=",      "LOGPATH=",     "METRICS=",       "THREADS=",    "CLASSMETHODS=",
        "METHODS=",  "TREE_MEMORY=", "FOLD_RECURSION", "TRACE_MODE=", "TRACE_MEMORY=",
        "PROBE=",    "ONCE",         "CHILDREN",       "TRAIN",       "START",
        "NOSTART",   "VERBOSE",      "HELP",           "TPROF",       "SCS",
        "SAMPLE",    "SCS_RATE=",    "OBJECTINFO",     "JAVA_ONLY",   "DELAY=",
        "DURATION=", "FORCE_RATE",   "INTERRUPT_NS=",  "TIMER="}) {
    EXPECT_TRUE(AgentHelp().contains(name)) << name;
    const bool takes_value = std::string_view(name).ends_with('=');
    const std::string_view needs_company = "NOSTART SAMPLE OBJECTINFO FORCE_RATE";
    if (needs_company.contains(name)) continue;
    EXPECT_TRUE(takes_value ? Problem(name).contains("needs a value") : Problem(name) == "none")
        << name;
  }
}

}  // namespace
}  // namespace jprof::options
