#include "calibrate/train/observation.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace jprof::calibrate {
namespace {

namespace fs = std::filesystem;
using profile::PackMethod;

constexpr EventKind kEn = EventKind::kEntry, kEx = EventKind::kExit;
constexpr uint32_t kDrive = 1, kCaller = 2, kLeaf = 3, kOther = 4, kWarm = 5, kMeasure = 6,
                   kSwitch = 7, kKernel = 8;

TEST(ParseShapes, ReadsWhatTheTrainerPrints) {
  const auto shapes = ParseShapes(
      "Warning: 'NoSuchMethodError' on register of something\n"
      "shape ShapeII sEmpty0 146.187\nshape ShapeJR vKs3 19 33 4.5\ndone\n");
  ASSERT_TRUE(shapes);
  EXPECT_EQ(shapes->size(), 2u);
  EXPECT_EQ(shapes->at("ShapeII sEmpty0"), (std::vector<double>{146.187}));
  EXPECT_EQ(shapes->at("ShapeJR vKs3"), (std::vector<double>{19, 33, 4.5}));
}

TEST(ParseShapes, RefusesHalfAnOutput) {
  EXPECT_FALSE(ParseShapes("shape ShapeII sEmpty0 146.187\n"));
  EXPECT_FALSE(ParseShapes("done\n"));
}

TEST(EmptyOf, HasTheSameCopyAndKindOfCaller) {
  EXPECT_EQ(EmptyOf("ShapeIJ sKv3"), "ShapeIJ sEmpty0");
  EXPECT_EQ(EmptyOf("ShapeRR vLs1"), "ShapeRR vEmpty0");
  EXPECT_EQ(EmptyOf("ShapeRR vEmpty0"), "ShapeRR vEmpty0");
}

// A profile of one thread, written byte by byte: drive calls a J static caller 10 times, that calls
// an R leaf twice each time and once something that is no shape.
class Profile : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::temp_directory_path() / "observation_XXXXXX").string();
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    directory_ = made;
    std::ofstream(directory_ / "meta.json")
        << R"({"format":1,"jprof":"0.1.0","mode":"callflow","pid":1,"metrics":[{"name":"time","unit":"ns","scale":1,"kind":"time"}]})";
    WriteMethods();
    WriteNodes();
    WriteTrain();
    WriteControl();
  }
  void TearDown() override { fs::remove_all(directory_); }

  void Method(uint32_t id, uint16_t flags, std::string type, std::string name) {
    profile::MethodRecord record{.id = id, .flags = flags};
    record.class_length = static_cast<uint16_t>(type.size());
    record.name_length = static_cast<uint16_t>(name.size());
    record.signature_length = 3;
    std::string text = type + name + "()V";
    text.resize((text.size() + 7) / 8 * 8);
    record.bytes = static_cast<uint32_t>(sizeof(record) + text.size());
    methods_.append(reinterpret_cast<const char*>(&record), sizeof(record)).append(text);
  }

  void WriteMethods() {
    Method(kDrive, profile::kMethodStatic | profile::kMethodNative, "jprof/trainers/Transitions",
           "drive");
    Method(kCaller, profile::kMethodStatic, "jprof/trainers/ShapeJR", "sLv2");
    Method(kLeaf, 0, "jprof/trainers/ShapeJR", "lv");
    Method(kOther, 0, "java/lang/Object", "hashCode");
    Method(kWarm, 0, "jprof/trainers/Library", "warm");
    Method(kMeasure, 0, "jprof/trainers/Library", "measure");
    Method(kSwitch, 0, "jprof/trainers/Library", "drive");
    Method(kKernel, 0, "jprof/trainers/Library", "regex");
    std::ofstream(directory_ / "methods", std::ios::binary) << methods_;
  }

  void WriteNodes() {
    std::vector<profile::Node> nodes(13);
    nodes[1].ref = PackMethod(FrameKind::kThread, profile::kRootMethod);
    nodes[2] = {.ref = PackMethod(FrameKind::kNative, profile::MethodId{kDrive}),
                .parent = 1,
                .entries = {1, 0},
                .self = 777};
    nodes[3] = {.ref = PackMethod(FrameKind::kJitted, profile::MethodId{kCaller}),
                .parent = 2,
                .entries = {1, 9},
                .exits = {0, 10},
                .self = 600};
    nodes[4] = {.ref = PackMethod(FrameKind::kRejitted, profile::MethodId{kLeaf}),
                .parent = 3,
                .entries = {10, 10},
                .exits = {20, 0},
                .self = 400};
    nodes[5] = {.ref = PackMethod(FrameKind::kJitted, profile::MethodId{kCaller}),
                .parent = 1,
                .entries = {5, 0},
                .exits = {5, 0},
                .self = 9999};
    // Library: warm -> drive -> kernel does not count, measure -> drive -> kernel -> leaf does.
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t at = 6 + 3 * i;
      nodes[at] = {
          .ref = PackMethod(FrameKind::kJitted, profile::MethodId{i == 0 ? kWarm : kMeasure}),
          .parent = 1,
          .entries = {1, 0}};
      nodes[at + 1] = {.ref = PackMethod(FrameKind::kJitted, profile::MethodId{kSwitch}),
                       .parent = at,
                       .entries = {1, 0},
                       .self = 5};
      nodes[at + 2] = {.ref = PackMethod(FrameKind::kJitted, profile::MethodId{kKernel}),
                       .parent = at + 1,
                       .entries = {4, 0},
                       .exits = {0, 4},
                       .self = 80};
    }
    nodes[12] = {.ref = PackMethod(FrameKind::kRejitted, profile::MethodId{kLeaf}),
                 .parent = 11,
                 .entries = {4, 0},
                 .exits = {4, 0},
                 .self = 40};
    std::ofstream file(directory_ / "nodes", std::ios::binary);
    file.write(reinterpret_cast<const char*>(nodes.data()),
               static_cast<std::streamsize>(nodes.size() * sizeof(nodes[0])));
  }

  void WriteTrain() {
    const profile::MethodRef caller = PackMethod(FrameKind::kJitted, profile::MethodId{kCaller}),
                             leaf = PackMethod(FrameKind::kRejitted, profile::MethodId{kLeaf});
    const profile::MethodRef other = PackMethod(FrameKind::kNative, profile::MethodId{kOther});
    const profile::TrainRecord records[] = {
        {30, caller, leaf, 0, 0, 0},
        {40, leaf, caller, 33, 0, 1},  // timed: itself clean, the next is not
        {0xfffffff0, caller, leaf, 0, 1, 0},
        {31, leaf, caller, 0, 0, 1},
        {profile::kDirty, caller, leaf, 0, 1, 0},
        {50, caller, other, 0, 0, 0},  // not of the shapes
        {},                            // unused
        {32, caller, leaf, 0, 0, 0},
    };
    train_records_ = std::size(records);
    std::ofstream(directory_ / "train", std::ios::binary)
        .write(reinterpret_cast<const char*>(records), sizeof(records));
  }

  void WriteControl() {
    profile::ControlHeader header;
    std::memcpy(header.magic, profile::kMagic, sizeof(header.magic));
    header.version = profile::kFormatVersion;
    header.thread_count = 1;
    header.node_count = 13;
    header.methods_bytes = methods_.size();
    header.method_count = 8;
    header.train_records = train_records_;
    profile::ThreadRecord thread{.state = profile::kThreadEnded, .tid = 1, .root = 1};
    std::string bytes(profile::kControlHeaderBytes + sizeof(thread), '\0');
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::memcpy(bytes.data() + profile::kControlHeaderBytes, &thread, sizeof(thread));
    std::ofstream(directory_ / "control", std::ios::binary) << bytes;
  }

  fs::path directory_;
  std::string methods_;
  uint64_t train_records_ = 0;
};

TEST_F(Profile, WalksAreWhatLiesBelowTheDriver) {
  auto reader = profile::Reader::Open(directory_.string());
  ASSERT_TRUE(reader) << reader.error().message;
  const profile::CallTree tree = *reader->ReadTree();
  const auto walks = WalksOf(tree, reader->ReadMethods());
  ASSERT_EQ(walks.size(), 2u);
  const Walk& kernel = walks.at("Library regex");
  EXPECT_EQ(kernel.calls, 4);
  EXPECT_DOUBLE_EQ(kernel.metrics[0], 30);  // (80 + 40) / 4
  const Counts kernel_counts = {
      {*ParseKey("En-J-En-R"), 1}, {*ParseKey("En-R-Ex-J"), 1}, {*ParseKey("Ex-J-Ex-J"), 1}};
  EXPECT_EQ(kernel.counts, kernel_counts);
  const Walk& walk = walks.at("ShapeJR sLv2");
  EXPECT_EQ(walk.calls, 10);
  ASSERT_EQ(walk.metrics.size(), 1u);
  EXPECT_DOUBLE_EQ(walk.metrics[0],
                   100);  // (600 + 400) / 10: neither the driver's nor the other context's
  const Counts expected = {{*ParseKey("En-j-En-R"), 1},
                           {*ParseKey("Ex-j-En-R"), 1},
                           {*ParseKey("En-R-Ex-j"), 2},
                           {*ParseKey("Ex-j-Ex-n"), 1}};
  EXPECT_EQ(walk.counts, expected);
}

TEST_F(Profile, SamplesAreCleanIntervalsBetweenShapes) {
  auto reader = profile::Reader::Open(directory_.string());
  ASSERT_TRUE(reader) << reader.error().message;
  const Samples samples = SamplesOf(*reader, reader->ReadMethods());
  EXPECT_EQ(samples.records, 6u);
  const std::map<Key, std::vector<uint32_t>> expected = {{{kEn, 'j', kEn, 'R'}, {30, 32}},
                                                         {{kEn, 'R', kEx, 'j'}, {40, 31}}};
  ASSERT_EQ(samples.deltas.size(), 1u);  // one metric
  EXPECT_EQ(samples.deltas[0], expected);
  EXPECT_TRUE(samples.handlers[0].empty());
  EXPECT_EQ(samples.handlers[1], std::vector<uint32_t>{33});
}

}  // namespace
}  // namespace jprof::calibrate
