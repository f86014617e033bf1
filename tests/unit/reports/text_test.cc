// What text for people is made of: units, names, widths, and which rows are shown.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "common/terminal_cells.h"
#include "reports/print/fit.h"
#include "reports/print/legend.h"
#include "reports/print/units.h"
#include "reports/tree/outline.h"
#include "tests/unit/reports/demo_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;
using model::kNoNode;
using model::NodeIndex;

TEST(Duration, IsInTheUnitThatFitsWithThreeDigits) {
  const std::pair<double, const char*> cases[] = {
      {0, "0 ns"},        {4.3, "4.30 ns"},    {0.0404, "0.04 ns"}, {36.44, "36.4 ns"},
      {364.4, "364 ns"},  {999.4, "999 ns"},   {999.5, "1.00 us"},  {9'994, "9.99 us"},
      {9'996, "10.0 us"}, {99'960, "100 us"},  {364.4e6, "364 ms"}, {1.5249e9, "1.52 s"},
      {1234e9, "1234 s"}, {-4.3, "-4.30 ns"},  {-1.5e9, "-1.50 s"}, {1e18, "1000000000 s"},
      {NAN, "0 ns"},      {INFINITY, "inf s"},
  };
  for (const auto& [ns, text] : cases) EXPECT_EQ(Duration(ns), text) << ns;
}

TEST(Bytes, AreInTheUnitThatFitsWithThreeDigits) {
  const std::pair<uint64_t, const char*> cases[] = {
      {0, "0 bytes"},          {1, "1 byte"},
      {999, "999 bytes"},      {1000, "1.00 kB"},
      {9'996, "10.0 kB"},      {99'960, "100 kB"},
      {999'600, "1.00 MB"},    {3'410'000, "3.41 MB"},
      {364'400'000, "364 MB"}, {UINT64_MAX, "18446744 TB"},
  };
  for (const auto& [bytes, text] : cases) EXPECT_EQ(Bytes(bytes), text) << bytes;
}

TEST(MethodIn, HasThreeForms) {
  using enum model::NameForm;
  const char* load = "clojure/lang/RT.load(Ljava/lang/String;[IZ)V";
  EXPECT_EQ(model::MethodIn(kFull, load), "clojure.lang.RT.load(String, int[], boolean)");
  EXPECT_EQ(model::MethodIn(kShort, load), "RT.load");
  EXPECT_EQ(model::MethodIn(kJvm, load), load);
  EXPECT_EQ(model::MethodIn(kFull, "p/A$B.<init>(Ljava/util/Map$Entry;)V"),
            "p.A$B.<init>(Map$Entry)");
  EXPECT_EQ(model::MethodIn(kShort, "p/q/A$$Lambda.0x1.run()V"), "A$$Lambda.0x1.run");
  // Functions have parentheses, too: only a descriptor makes a method.
  for (const auto form : {kFull, kShort, kJvm}) {
    for (const char* text : {"(overflow)", "", "A.m(", "A.m(I)Q", "libc.so.6.malloc", "((((",
                             "\x80", "libapp.so.Foo::size() const", "libapp.so.f() [clone .cold]",
                             "a/b.so.operator/()", "libapp.so.(anonymous namespace)::f(int)"})
      EXPECT_EQ(model::MethodIn(form, text), text);
  }
  EXPECT_EQ(model::MethodIn(kFull, "A.m(Q)V"), "A.m(Q)V");  // damaged
}

TEST(ClassIn, WritesArraysAsInSources) {
  using enum model::NameForm;
  EXPECT_EQ(model::ClassIn(kFull, "java/lang/String"), "java.lang.String");
  EXPECT_EQ(model::ClassIn(kShort, "java/lang/String"), "String");
  EXPECT_EQ(model::ClassIn(kFull, "[[C"), "char[][]");
  EXPECT_EQ(model::ClassIn(kShort, "[Ljava/lang/String;"), "String[]");
  EXPECT_EQ(model::ClassIn(kJvm, "[[C"), "CHAR[][]");
  EXPECT_EQ(model::ClassIn(kJvm, "[Ljava/lang/String;"), "java/lang/String[]");
  EXPECT_EQ(model::ClassIn(kJvm, "java/lang/String"), "java/lang/String");
  for (const char* damaged : {"[", "[L", "[Lx", "[CC", "[Q"})
    EXPECT_EQ(model::ClassIn(kFull, damaged), damaged);
}

TEST(Fitted, LosesWhatIsNeededLeast) {
  const std::string name = "  J:clojure.lang.RT.load(String, int) < Main.main 90 %";
  EXPECT_EQ(Fitted(name, 80), name);
  EXPECT_EQ(Fitted(name, 40), "  J:clojure.lang.RT.load(String, int)");
  EXPECT_EQ(Fitted(name, 30), "  J:clojure.lang.RT.load(..)");
  EXPECT_EQ(Fitted(name, 20), "  J:c.l.RT.load(..)");
  EXPECT_EQ(Fitted(name, 12), "  J:c.l.R...");
  EXPECT_EQ(Fitted(" +3 J:a.b.C.m()", 13), " +3 J:a.b....");
  EXPECT_EQ(Fitted("F:libc.so.6.__memset_avx2", 20), "F:libc.so.6.__mem...");
  EXPECT_EQ(Fitted("T:(all threads)", 12), "T:(all th...");
  EXPECT_EQ(Fitted("F:libapp.so.(anonymous namespace)::Worker::work(int)", 30),
            "F:libapp.so.(anonymous name...");
  EXPECT_EQ(Fitted("T:com.acme.pool.Worker 1 (tid 77)", 20), "T:com.acme.pool.W...");
}

// Dots of numbers and sentences end no packages, and parentheses enclose no arguments.
TEST(FittedProse, LosesTheEnd) {
  const std::string text = "  100 java.lang.String of 4.80 kB < 5.00 kB (most)";
  EXPECT_EQ(FittedProse(text, 80), text);
  EXPECT_EQ(FittedProse(text, 40), "  100 java.lang.String of 4.80 kB < 5...");
  EXPECT_EQ(FittedProse(std::string(60, ' ') + "byte[]", 20), std::string(10, ' ') + "byte[]");
}

// Whatever the text, the result has room, is the beginning of UTF-8 characters, and keeps a part of
// the name however deep it is indented.
TEST(Fitted, AnyTextFits) {
  std::mt19937 random(7);
  const std::string letters[] = {" ", "a", ".", "(", ")",        "<",
                                 "+", "3", ":", "J", "\xc3\xa4", "\xe4\xb8\xad"};
  for (int round = 0; round < 20000; ++round) {
    std::string text(random() % 30, ' ');
    for (size_t left = random() % 40; left > 0; --left)
      text += letters[random() % std::size(letters)];
    const size_t room = random() % 50;
    for (const std::string& fitted : {Fitted(text, room), FittedProse(text, room)}) {
      ASSERT_LE(Cells(fitted), room) << '"' << text << "\" " << room;
      if (Cells(text) <= room) {
        ASSERT_EQ(fitted, text);
      }
      ASSERT_TRUE(fitted.empty() || (fitted.front() & 0xc0) != 0x80) << fitted;
    }
  }
}

struct TestNode : model::Node {
  uint32_t level = 0;
};
using TestTree = std::vector<TestNode>;

struct MadeTree {
  TestTree nodes;
  std::vector<double> own, all;
  std::vector<NodeIndex> roots;

  // Appends a node; `parent` is kNoNode for a root.
  void Add(NodeIndex parent, double own_value) {
    TestNode node;
    node.parent = parent;
    node.level = parent == kNoNode ? 0 : nodes[parent].level + 1;
    if (parent == kNoNode) roots.push_back(static_cast<NodeIndex>(nodes.size()));
    nodes.push_back(node);
    own.push_back(own_value);
  }
  // Is to be called after the last node.
  void Finish() {
    model::LinkNodes(nodes);
    all = own;
    model::AddUpNodes(nodes, all);
  }
};

// A random tree, in which many nodes have one child and little of their own.
MadeTree RandomTree(unsigned seed) {
  std::mt19937 random(seed);
  MadeTree made;
  const size_t count = 1 + random() % 300;
  for (size_t i = 0; i < count; ++i) {
    const bool is_root = i == 0 || random() % 60 == 0;
    NodeIndex parent = kNoNode;
    if (!is_root) parent = static_cast<NodeIndex>(random() % 3 == 0 ? random() % i : i - 1);
    made.Add(parent, random() % 4 == 0 ? static_cast<double>(random() % 100) : 0);
  }
  made.Finish();
  return made;
}

// What text shows by the definition in outline.h, node by node.
struct Oracle {
  const MadeTree& made;
  double limit = 0;

  bool Shows(NodeIndex i) const { return made.all[i] >= limit; }
  std::vector<NodeIndex> ShownChildren(NodeIndex parent) const {
    std::vector<NodeIndex> children;
    for (NodeIndex i = 0; i < made.nodes.size(); ++i)
      if (made.nodes[i].parent == parent && Shows(i)) children.push_back(i);
    return children;
  }
  // `first` is the first of the folded callers that this node would continue, or the node itself.
  bool Folds(NodeIndex i, NodeIndex first) const {
    const std::vector<NodeIndex> children = ShownChildren(i);
    return made.nodes[i].parent != kNoNode && children.size() == 1 &&
           made.all[first] - made.all[children[0]] < limit;
  }
  double Rest(NodeIndex parent) const {
    double rest = 0;
    for (NodeIndex i = 0; i < made.nodes.size(); ++i)
      if (made.nodes[i].parent == parent && !Shows(i)) rest += made.all[i];
    return rest;
  }
  bool HasHidden(NodeIndex parent) const {
    for (NodeIndex i = 0; i < made.nodes.size(); ++i)
      if (made.nodes[i].parent == parent && !Shows(i)) return true;
    return false;
  }
  void Add(NodeIndex i, uint32_t indent, uint32_t callers, NodeIndex first,
           std::vector<std::string>& rows) const {
    const bool folds = Folds(i, first);
    // However long a chain is, what it hides is below the limit.
    if (callers > 0) {
      EXPECT_LT(made.all[first] - made.all[i], limit);
    }
    if (!folds) rows.push_back(fmt::format("{} {} {}", i, indent, callers));
    const uint32_t below = folds ? indent : indent + 1;
    if (HasHidden(i) && Rest(i) >= limit) rows.push_back(fmt::format("rest {} {}", i, below));
    for (const NodeIndex child : ShownChildren(i))
      Add(child, below, folds ? callers + 1 : 0, folds ? first : child, rows);
  }
};

TEST(Outline, IsAsDefined) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const MadeTree made = RandomTree(seed);
    const double percent = std::array{0.5, 1.0, 3.0, 10.0, 40.0}[seed % 5];
    double whole = 0;
    for (const NodeIndex root : made.roots) whole += made.all[root];
    if (whole == 0) continue;
    const Outline<TestTree> outline(made.nodes, made.roots, {.min_percent = percent}, made.all,
                                    [](NodeIndex, double) { return false; });
    std::vector<std::string> shown, expected;
    const Oracle oracle{made, whole * percent / 100};
    for (const NodeIndex root : made.roots) {
      EXPECT_EQ(outline.HidesRoot(root), made.roots.size() > 1 && !oracle.Shows(root));
      if (outline.HidesRoot(root)) continue;
      outline.Visit(
          root,
          [&](NodeIndex node, Place place) {
            shown.push_back(fmt::format("{} {} {}", node, place.indent, place.callers));
            return true;
          },
          [&](NodeIndex node, Place place) {
            shown.push_back(fmt::format("rest {} {}", node, place.indent));
            return true;
          });
      oracle.Add(root, 0, 0, root, expected);
    }
    ASSERT_EQ(shown, expected) << "seed " << seed;
  }
}

// By default no tree is longer than a screen, and none is shorter than need be.
TEST(Outline, FitsAScreen) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const MadeTree made = RandomTree(seed);
    const Outline<TestTree> outline(made.nodes, made.roots, {}, made.all,
                                    [](NodeIndex, double) { return false; });
    size_t rows = 0;
    const auto count = [&](NodeIndex, Place) { return ++rows > 0; };
    for (const NodeIndex root : made.roots)
      if (!outline.HidesRoot(root)) outline.Visit(root, count, count);
    EXPECT_LE(rows, kScreenRows) << seed;
    if (made.nodes.size() <= kScreenRows) {
      EXPECT_EQ(rows, made.nodes.size()) << seed;
    }
  }
}

// 20 of 100 children have 1.7 % or more, and 8 have 2 %: the screen is not left half empty.
TEST(Outline, SharesAreFineEnoughToFillAScreen) {
  MadeTree made;
  for (NodeIndex i = 0; i <= 100; ++i) {
    made.Add(i == 0 ? kNoNode : 0, i == 0 ? 487 : i <= 8 ? 22 : i <= 20 ? 17 : i <= 29 ? 12 : 2);
  }
  made.Finish();
  const Outline<TestTree> outline(made.nodes, made.roots, {}, made.all,
                                  [](NodeIndex, double) { return false; });
  size_t rows = 0;
  const auto count = [&](NodeIndex, Place) { return ++rows > 0; };
  outline.Visit(0, count, count);
  EXPECT_GE(rows, 1 + 20u);
}

// A recursion whose calls are small, but not all of them together, is not folded away.
TEST(Outline, ALongChainHidesNoMoreThanAShortOne) {
  MadeTree made;
  for (NodeIndex i = 0; i < 1000; ++i) made.Add(i == 0 ? kNoNode : i - 1, i == 999 ? 500 : 1);
  made.Finish();
  const Outline<TestTree> outline(made.nodes, made.roots, {.min_percent = 5}, made.all,
                                  [](NodeIndex, double) { return false; });
  double last = made.all[0];
  size_t rows = 0;
  outline.Visit(
      0,
      [&](NodeIndex node, Place) {
        EXPECT_LE(last - made.all[node], 0.05 * made.all[0] + 1);  // with the row's own
        last = made.all[node];
        return ++rows > 0;
      },
      [](NodeIndex, Place) { return true; });
  EXPECT_GT(rows, 10u);
}

// Weights of 0, below 0 or NaN neither hide everything nor print everything.
TEST(Outline, WithoutAWholeTheFirstLevelsAreShown) {
  for (const double own : {0.0, -1.0, static_cast<double>(NAN)}) {
    MadeTree made = RandomTree(11);
    std::ranges::fill(made.own, own);
    made.all = made.own;
    model::AddUpNodes(made.nodes, made.all);
    const Outline<TestTree> outline(made.nodes, made.roots, {}, made.all,
                                    [](NodeIndex, double) { return false; });
    size_t rows = 0;
    const auto count = [&](NodeIndex, Place) { return ++rows > 0; };
    for (const NodeIndex root : made.roots)
      if (!outline.HidesRoot(root)) outline.Visit(root, count, count);
    EXPECT_GE(rows, 1u) << own;
    EXPECT_LE(rows, std::max(kScreenRows, 2 * made.roots.size())) << own;
  }
}

TEST(Outline, MachineFormatsFoldNothing) {
  const MadeTree made = RandomTree(3);
  const Outline<TestTree> outline(made.nodes, made.roots, {.format = Format::kJson}, {},
                                  [](NodeIndex, double) { return false; });
  size_t rows = 0;
  for (const NodeIndex root : made.roots) {
    EXPECT_FALSE(outline.HidesRoot(root));
    outline.Visit(
        root,
        [&](NodeIndex node, Place place) {
          EXPECT_EQ(place.indent, made.nodes[node].level);
          return ++rows > 0;
        },
        [](NodeIndex, Place) { return true; });
  }
  EXPECT_EQ(rows, made.nodes.size());
}

TEST(Legend, ExplainsThePrintedColumnsInTheirOrder) {
  constexpr ColumnHelp kHelp[] = {
      {"CUM", "all of `it`"}, {"RAW", "never printed"}, {"SELF", "own"}};
  const Column columns[] = {{"SELF", 8}, {"SELF-1", 8}, {"CUM", 8}, {"NAME"}};
  const std::string legend = Legend(columns, kHelp);
  EXPECT_TRUE(legend.starts_with("  SELF    own\n  CUM     all of it\n  letters I interpreted,"))
      << legend;
  EXPECT_EQ(legend.find("RAW"), std::string::npos);
  std::istringstream lines(legend);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

// Every line of a wide profile fits the width, also with names that a program made to confuse. Only
// the command that explains the quality is never divided.
TEST(Width, EveryLineFits) {
  profile::SyntheticProfile made;
  const size_t thread = made.AddThread(std::string(300, 't'), 100);
  for (const char* name : {"m", "\xe4\xb8\xad\xe6\x96\x87", "+3 x", "a < b", "(((", "  "})
    made.Enter(thread,
               made.AddMethod("p/q/" + std::string(120, 'C') + name, name,
                              "(Ljava/lang/String;Ljava/lang/String;)V"),
               FrameKind::kJitted, 1000);
  const fs::path directory =
      fs::path(testing::TempDir()) / ("width-" + std::to_string(getpid()) + ".jprof");
  made.Write(directory);
  for (const char* report : {"log-rt", "methods"}) {
    for (const size_t width : {size_t{60}, size_t{80}, size_t{120}}) {
      const auto printed = Print(report, directory, {.width = width, .legends = true});
      ASSERT_TRUE(printed.result);
      std::istringstream lines(printed.text);
      for (std::string line; std::getline(lines, line);) {
        if (line.ends_with(".jprof)")) continue;
        EXPECT_LE(Cells(line), width) << report << "\n" << line;
      }
    }
  }
  fs::remove_all(directory);
}

}  // namespace
}  // namespace jprof::reports
