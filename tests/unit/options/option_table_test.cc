// Each row of the table by itself, with no list of options here: a new row is covered at once.
#include "options/option_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <set>

namespace jprof::agent {
namespace {

class EachOption : public testing::TestWithParam<Option> {};

// Values as an agent string has them: some that are not the default, and some that are refused.
struct Values {
  std::vector<std::string> good, bad;
};
struct ValuesOf {
  Values operator()(const ModeWord& target) const {
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
    return {{"-x*", "+a.b*+-a.b.c", "a%2Ab%2D"}, {"+", "a*b", "a%"}};
  }
  Values operator()(const Size& t) const {
    return {{fmt::format("{}", t.least), fmt::format("{}", t.least + 1), fmt::format("{}", t.most)},
            {fmt::format("{}", t.least - 1), fmt::format("{}", t.most + 1), "-1M", "x", "1Q"}};
  }
  Values operator()(const Number& t) const {
    return {{"1", fmt::format("{}", t.most)},
            {"0", fmt::format("{}", t.most + 1), "-1", "1x", "1.5"}};
  }
  Values operator()(const Rate&) const {
    return {{"1", "20000"}, {"0", "20001", "-1", "1x", "1.5"}};
  }
  template <typename E>
  Values operator()(const Choice<E>& t) const {
    Values values = {{}, {"sideways", "1"}};
    for (const auto word : t.words) values.good.emplace_back(word);
    return values;
  }
};

std::string WordWith(std::string_view word, const std::string& value) {
  return fmt::format("{}{}{}", word, value.empty() ? "" : "=", value);
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(c));
  return text;
}

// What the text of the options says, word by word and whether or not it is allowed together.
std::string Printed(std::string_view words) {
  AgentOptions options;
  const Checked applied = ApplyWords(words, options);
  EXPECT_TRUE(applied) << words;
  return ToString(options);
}

// Words that set a mode in which the option is printed.
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
    const std::string text = Printed(ModeFor(option) + WordWith(option.word, value));
    EXPECT_EQ(Printed(text), text);
    AgentOptions once, twice;
    ASSERT_TRUE(ApplyWords(ModeFor(option) + WordWith(option.word, value), once));
    ASSERT_TRUE(ApplyWords(text, twice));
    EXPECT_EQ(ValueOf(option, once), ValueOf(option, twice)) << text;
  }
}

TEST_P(EachOption, HasAliasesInAnyCase) {
  const Option& option = GetParam();
  const std::string value = std::visit(ValuesOf(), option.target).good.front();
  const std::string text = Printed(ModeFor(option) + WordWith(option.word, value));
  EXPECT_EQ(Printed(ModeFor(option) + WordWith(Lower(std::string(option.word)), value)), text);
  for (const auto alias : std::views::split(option.aliases, ' ')) {
    if (alias.empty()) continue;
    const std::string word = Lower(std::string(std::string_view(alias)));
    EXPECT_EQ(Printed(ModeFor(option) + WordWith(word, value)), text) << word;
  }
}

TEST_P(EachOption, RefusesValuesInBothVocabularies) {
  const Option& option = GetParam();
  for (const std::string& value : std::visit(ValuesOf(), option.target).bad) {
    AgentOptions options;
    const Checked done = ApplyWords(WordWith(option.word, value), options);
    ASSERT_FALSE(done) << option.word << " " << value;
    ASSERT_EQ(done.error().option, FindOption(option.word));
    EXPECT_TRUE(Render(done.error(), Interface::kAgentString)
                    .starts_with(fmt::format("{}: ", option.word)));
    EXPECT_TRUE(Render(done.error(), Interface::kCommandLine)
                    .starts_with(fmt::format("{}: ", NameOf(option, Interface::kCommandLine))));
  }
}

TEST_P(EachOption, SaysWhetherItTakesAValue) {
  const Option& option = GetParam();
  AgentOptions options;
  const bool plain = ApplyWords(option.word, options).has_value();
  EXPECT_EQ(plain, !option.NeedsValue());
  const std::string value = std::visit(ValuesOf(), option.target).good.back();
  const std::string word = WordWith(option.word, option.TakesValue() ? value : "1");
  EXPECT_EQ(ApplyWords(word, options).has_value(), option.TakesValue()) << word;
}

TEST_P(EachOption, IsInHelpAndInTheDocument) {
  const Option& option = GetParam();
  EXPECT_TRUE(AgentHelp().contains(fmt::format("\n  {}", option.word)));
  EXPECT_TRUE(OptionsMarkdown().contains(fmt::format("| `{}", option.word)));
  EXPECT_FALSE(option.help.empty() || option.help.contains('\n') || option.help.ends_with('.'));
  EXPECT_EQ(option.flag.empty(), option.commands == kNoCommand);
}

INSTANTIATE_TEST_SUITE_P(Table, EachOption, testing::ValuesIn(OptionTable()),
                         [](const auto& tested) { return std::string(tested.param.word); });

TEST(OptionTable, HasEachWordAndFlagOnce) {
  std::set<std::string_view> words, flags;
  for (const Option& option : OptionTable()) {
    EXPECT_TRUE(words.insert(option.word).second) << option.word;
    if (!option.flag.empty()) {
      EXPECT_TRUE(flags.insert(option.flag).second) << option.flag;
    }
    EXPECT_EQ(FindOption(option.word), &option);
  }
  EXPECT_EQ(FindOption("FOCU"), nullptr);
}

// Each conflict, as an agent string and as a command line has it.
struct Conflict {
  const char* words;
  const char* agent;
  const char* command;  // null: no command line can say it
};
constexpr Conflict kConflicts[] = {
    {"callflow,keep_intrinsics", "KEEP_INTRINSICS needs FOCUS", "--keep-intrinsics needs --focus"},
    {"calltree,force_rate", "FORCE_RATE needs SCS or SAMPLE: only sampling has timers",
     "--force-rate needs --sample: only sampling has timers"},
    {"calltree,timer=posix", "TIMER needs SCS or SAMPLE: only sampling has timers",
     "--timer needs --sample: only sampling has timers"},
    {"scs=IDLE,timer=posix", "TIMER: nothing is sampled by CPU time here; add TIME",
     "--timer: nothing is sampled by CPU time here; add TIME"},
    {"calltree,metrics=time", "METRICS needs CALLFLOW: CALLTREE only counts", nullptr},
    {"code", "CODE needs TPROF: only the log of jitted code has it", nullptr},
    {"callflow,sample", "SAMPLE needs CALLTREE or SCS: only these take samples", nullptr},
    {"trace,sample", "SAMPLE needs CALLTREE or SCS: only these take samples", nullptr},
    {"nostart", "NOSTART needs SCS or SAMPLE: only sampling starts and stops", nullptr},
    {"delay=1", "DELAY needs SCS or SAMPLE: only sampling starts and stops", nullptr},
    {"duration=1", "DURATION needs SCS or SAMPLE: only sampling starts and stops", nullptr},
    {"calltree,sample,objectinfo", "OBJECTINFO needs SCS", nullptr},
    {"scs,metrics=time", "METRICS: SCS takes whole stacks, at events; leave it out", nullptr},
    {"scs,train", "TRAIN: SCS takes whole stacks, at events; leave it out", nullptr},
    {"scs,focus=app", "FOCUS: SCS takes whole stacks, at events; leave it out", nullptr},
    {"scs,methods=a", "CLASSMETHODS: SCS takes whole stacks, at events; leave it out", nullptr},
};

TEST(OptionConflicts, AreToldInTheWordsOfTheInterface) {
  for (const Conflict& conflict : kConflicts) {
    AgentOptions options;
    ASSERT_TRUE(ApplyWords(conflict.words, options)) << conflict.words;
    const Checked checked = Check(options);
    ASSERT_FALSE(checked) << conflict.words;
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

TEST(OptionConflicts, SettlingTwiceIsSettlingOnce) {
  AgentOptions options;
  ASSERT_TRUE(ApplyWords("SCS=TIME+IDLE,SCS_RATE=10000", options));
  Settle(options);
  const auto triggers = options.triggers;
  Settle(options);
  EXPECT_EQ(options.triggers, triggers);
  EXPECT_EQ(options.lowered.size(), 1u);
  options.interrupt_ns = 3000;  // measured: the rate can be had
  Settle(options);
  EXPECT_EQ(options.triggers.front().every, 100'000u);
  EXPECT_TRUE(options.lowered.empty());
}

}  // namespace
}  // namespace jprof::agent
