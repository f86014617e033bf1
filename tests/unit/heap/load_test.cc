#include <gtest/gtest.h>
#include <zlib.h>

#include <map>
#include <random>
#include <set>

#include "heap/load/heap.h"
#include "heap/load/object_reader.h"
#include "tests/unit/heap/dump_writer.h"

namespace jprof::heap {
namespace {

using Field = DumpWriter::Field;
constexpr FieldType kRef = FieldType::kObject;

// The classes that a dump of HotSpot always has.
constexpr uint64_t kObject = 0x10000, kClass = 0x10100, kNode = 0x10200, kArray = 0x10300,
                   kReference = 0x10400, kWeak = 0x10500, kThread = 0x10600;

DumpWriter Classes(uint32_t id_size = 8) {
  DumpWriter dump(id_size);
  dump.Class(kObject, "java/lang/Object");
  dump.Class(kClass, "java/lang/Class", kObject, {{"name", kRef}});
  dump.Class(kNode, "app/Node", kObject, {{"next", kRef}, {"value", kRef}});
  dump.Class(kArray, "[Ljava/lang/Object;", kObject);
  dump.Class(kReference, "java/lang/ref/Reference", kObject, {{"referent", kRef}, {"queue", kRef}});
  dump.Class(kWeak, "java/lang/ref/WeakReference", kReference);
  dump.Class(kThread, "java/lang/Thread", kObject, {{"name", kRef}});
  for (const uint64_t id : {kObject, kClass, kNode, kArray, kReference, kWeak, kThread})
    dump.Root(SubTag::kRootStickyClass, id);
  return dump;
}

Heap Loaded(std::string_view bytes, bool keep = false) {
  const DumpOnDisk file(bytes);
  auto heap = Load(file.path(), {.keep_references = keep});
  EXPECT_TRUE(heap) << heap.error().message;
  return *std::move(heap);
}

uint64_t Retained(const Heap& heap, uint64_t id) { return heap.RetainedBy(heap.NodeOf(id)); }
uint64_t Size(const Heap& heap, uint64_t id) { return heap.SizeOf(heap.NodeOf(id)); }

TEST(LoadTest, AListIsHeldByItsFirstNode) {
  DumpWriter dump = Classes();
  constexpr uint64_t kFirst = 0x20000;
  for (uint64_t i = 0; i < 10; ++i)
    dump.Object(kFirst + i * 24, kNode, {i == 9 ? 0 : kFirst + (i + 1) * 24, 0});
  dump.Root(SubTag::kRootJniGlobal, kFirst);
  const Heap heap = Loaded(dump.Finish());
  EXPECT_EQ(heap.objects, 10u);
  EXPECT_EQ(heap.problems.count, 0u);
  EXPECT_EQ(Size(heap, kFirst), 24u);  // 12 + 2 * 4, aligned
  for (uint64_t i = 0; i < 10; ++i) EXPECT_EQ(Retained(heap, kFirst + i * 24), (10 - i) * 24);
  EXPECT_EQ(IdOf(heap, heap.NodeOf(kFirst + 48)), kFirst + 48);
}

TEST(LoadTest, AWeakReferenceHoldsNothing) {
  DumpWriter dump = Classes();
  dump.Object(0x20000, kWeak, {0x20018, 0x20030});
  dump.Object(0x20018, kNode, {0, 0});
  dump.Object(0x20030, kNode, {0, 0});
  dump.Root(SubTag::kRootUnknown, 0x20000);
  const Heap heap = Loaded(dump.Finish());
  EXPECT_FALSE(heap.IsReachable(heap.NodeOf(0x20018)));  // the referent
  EXPECT_TRUE(heap.IsReachable(heap.NodeOf(0x20030)));   // the queue
}

TEST(LoadTest, AThreadHoldsItsLocalVariables) {
  DumpWriter dump = Classes();
  dump.Object(0x20000, kThread, {0});
  dump.Object(0x20010, kNode, {0, 0});
  dump.Root(SubTag::kRootThread, 0x20000, 7);
  dump.Root(SubTag::kRootJavaFrame, 0x20010, 7);
  const Heap heap = Loaded(dump.Finish());
  EXPECT_EQ(heap.tree.dominator[heap.NodeOf(0x20010)], heap.NodeOf(0x20000));
}

TEST(LoadTest, AStaticFieldHoldsByItsClass) {
  DumpWriter dump = Classes();
  dump.Class(0x10700, "app/Holder", kObject, {},
             {{"cache", kRef, 0x20000}, {"count", FieldType::kInt, 3}});
  dump.Object(0x20000, kNode, {0x20018, 0});
  dump.Object(0x20018, kNode, {0, 0});
  dump.Root(SubTag::kRootStickyClass, 0x10700);
  const Heap heap = Loaded(dump.Finish());
  EXPECT_EQ(heap.tree.dominator[heap.NodeOf(0x20000)], heap.NodeOf(0x10700));
  EXPECT_EQ(Retained(heap, 0x10700), Size(heap, 0x10700) + 48);
}

// A class whose loader is gone is alive as long as it has instances.
TEST(LoadTest, AnInstanceHoldsItsClass) {
  DumpWriter dump = Classes();
  dump.Class(0x10700, "app/Plugin", kObject);
  dump.Object(0x20000, 0x10700, {});
  dump.Root(SubTag::kRootUnknown, 0x20000);
  const Heap heap = Loaded(dump.Finish());
  EXPECT_EQ(heap.tree.dominator[heap.NodeOf(0x10700)], heap.NodeOf(0x20000));
}

TEST(LoadTest, ReadsObjectsAgain) {
  for (const uint32_t id_size : {4u, 8u}) {
    DumpWriter dump = Classes(id_size);
    dump.Class(0x10700, "java/lang/String", kObject,
               {{"value", kRef}, {"hash", FieldType::kInt}, {"coder", FieldType::kByte}});
    dump.Instance(0x20000, 0x10700, {{0x20018, id_size}, {5, 4}, {0, 1}});
    dump.EndSegment();
    dump.PrimitiveArray(0x20018, FieldType::kByte, {'h', 'i', 0xe9});
    for (uint64_t i = 0; i < 3000; ++i) dump.Object(0x30000 + i * 24, kNode, {i, 0});
    dump.EndSegment(Tag::kHeapDump);
    const Heap heap = Loaded(dump.Finish());
    EXPECT_EQ(StringOf(heap, heap.NodeOf(0x20000)), "hi\u00e9");
    EXPECT_FALSE(StringOf(heap, heap.NodeOf(0x20018)));
    const ObjectRecord record = ReadObject(heap, heap.NodeOf(0x30000 + 2500 * 24));
    EXPECT_EQ(ValueOf(heap, std::get<InstanceRecord>(record), "next"), 2500u);
  }
}

// JDKs that write a dump with several threads do not write it in the order of addresses.
TEST(LoadTest, IdsAreThoseOfTheRecordsInAnyOrder) {
  const std::vector<uint64_t> ids = {0x20030, 0x20000, 0x20018, 0x20000};
  DumpWriter dump = Classes();
  for (const uint64_t id : ids) dump.Object(id, kNode, {0, 0});
  const Heap heap = Loaded(dump.Finish());
  for (uint32_t i = 0; i < ids.size(); ++i) EXPECT_EQ(IdOf(heap, heap.class_count() + i), ids[i]);
  EXPECT_EQ(IdOf(heap, heap.NodeOf(kNode)), kNode);
  EXPECT_EQ(IdOf(heap, 0), 0u);  // arrays of a primitive type
}

std::string Compressed(std::string_view bytes) {
  std::string out(compressBound(bytes.size()) + 100, '\0');
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

std::string ManyNodes(size_t text_size = 0) {
  DumpWriter dump = Classes();
  if (text_size > 0) dump.Text(std::string(text_size, 'x'));
  for (uint64_t i = 0; i < 20000; ++i)
    dump.Object(0x20000 + i * 24, kNode, {0x20000 + i * 24 + 24, i});
  dump.Root(SubTag::kRootUnknown, 0x20000);
  return dump.Finish();
}

// `jcmd GC.heap_dump -gz` writes one member for each of its buffers.
TEST(LoadTest, ExpandsACompressedDumpOfSeveralMembers) {
  const std::string bytes = ManyNodes();
  const std::string both = Compressed(bytes.substr(0, 100'000)) + Compressed(bytes.substr(100'000));
  const Heap heap = Loaded(both);
  EXPECT_EQ(heap.objects, 20000u);
  EXPECT_EQ(heap.problems.count, 0u);
  EXPECT_EQ(heap.file.file_size(), both.size());
}

// The end of the data is then known only after the buffer was written.
TEST(LoadTest, ExpandsADumpOfExactlyOneBuffer) {
  constexpr size_t kBuffer = size_t{1} << 20;
  const std::string bytes = ManyNodes(1 + kBuffer - ManyNodes(1).size());
  ASSERT_EQ(bytes.size(), kBuffer);
  for (const std::string& packed : {Compressed(bytes), Compressed(bytes) + Compressed("")}) {
    const Heap heap = Loaded(packed);
    EXPECT_EQ(heap.objects, 20000u);
    EXPECT_EQ(heap.problems.texts, std::vector<std::string>());
  }
}

TEST(LoadTest, ReadsWhatIsLeftOfACompressedDump) {
  const std::string bytes = Compressed(ManyNodes());
  for (const std::string& damaged :
       {bytes.substr(0, bytes.size() / 2), bytes.substr(0, bytes.size() / 2) + "garbage garbage"}) {
    const Heap heap = Loaded(damaged);
    EXPECT_GT(heap.objects, 1000u);
    EXPECT_GT(heap.problems.count, 0u);
  }
}

TEST(LoadTest, ReadsWhatIsLeftOfACutDump) {
  const std::string bytes = ManyNodes();
  const Heap heap = Loaded(bytes.substr(0, bytes.size() / 2));
  EXPECT_GT(heap.objects, 5000u);
  ASSERT_EQ(heap.problems.texts.size(), 2u);
  EXPECT_TRUE(heap.problems.texts[0].starts_with("the file ends inside a record at byte"));
  EXPECT_TRUE(heap.problems.texts[1].starts_with("a heap record 0x21 is incomplete at byte"));
}

TEST(LoadTest, SkipsTheRestOfADamagedSegment) {
  DumpWriter dump = Classes();
  dump.Object(0x20000, kNode, {0, 0});
  dump.EndSegment();
  dump.Record(Tag::kHeapDumpSegment, "\x77garbage");
  dump.Record(static_cast<Tag>(0x99), "what is this?");
  dump.Object(0x20018, kNode, {0, 0});
  const Heap heap = Loaded(dump.Finish());
  EXPECT_EQ(heap.objects, 2u);
  ASSERT_EQ(heap.problems.texts.size(), 2u);
  EXPECT_TRUE(heap.problems.texts[0].starts_with("there is no heap record 0x77"));
  EXPECT_TRUE(heap.problems.texts[1].starts_with("there is no record 0x99"));
}

// Dumps of 4 GiB and more had no length before there were segments.
TEST(LoadTest, ReadsADumpWithoutLength) {
  DumpWriter dump = Classes();
  dump.Object(0x20000, kNode, {0, 0});
  dump.EndSegment(Tag::kHeapDump);
  std::string bytes = dump.Finish();
  const size_t at = bytes.find("\x0c\0\0\0\0", 0, 5);
  ASSERT_NE(at, std::string::npos);
  for (size_t i = at + 5; i < at + 9; ++i) bytes[i] = 0;
  const Heap heap = Loaded(bytes);
  EXPECT_EQ(heap.objects, 1u);
  EXPECT_EQ(heap.problems.count, 0u);
}

TEST(LoadTest, RefusesWhatIsNoDump) {
  const auto error = [](std::string_view bytes) {
    const DumpOnDisk file(bytes);
    const auto heap = Load(file.path(), {});
    return heap ? "" : heap.error().message.substr(file.path().size());
  };
  EXPECT_TRUE(error("hello").starts_with(" is not a heap dump"));
  EXPECT_TRUE(error("").starts_with(" is empty"));
  EXPECT_TRUE(error(Compressed("")).starts_with(" is empty"));
  EXPECT_TRUE(error("\x1f\x8b").starts_with(" cannot be expanded: the compressed file ends"));
  EXPECT_TRUE(error("JAVA PROFILE 1.0.2").starts_with(" ends inside its header"));
  EXPECT_TRUE(error(DumpWriter(7).Finish()).starts_with(" has ids of 7 bytes"));
  EXPECT_FALSE(Load("/no/such/file", {}));
  EXPECT_FALSE(Load("/", {}));
}

// The layouts of HotSpot, recognised by the distances of objects.
TEST(LoadTest, FindsSizesByDistances) {
  struct Case {
    uint32_t node, four_references, nine_bytes, one_long, hundred_bytes;
  };
  // app.Node has two references.
  for (const Case& one : {Case{24, 32, 32, 24, 120},     // 12 + 8; 16 + 16; 16 + 9; 16 + 8
                          Case{32, 48, 32, 24, 120},     // references of 8 bytes
                          Case{32, 56, 40, 32, 128},     // and class pointers of 8 bytes
                          Case{24, 40, 40, 32, 128},     // only class pointers of 8 bytes
                          Case{24, 40, 32, 32, 120},     // the same since JDK 23
                          Case{16, 32, 24, 24, 112},     // compact headers
                          Case{24, 48, 24, 24, 112}}) {  // compact headers, references of 8 bytes
    DumpWriter dump = Classes();
    uint64_t at = 0x20000;
    for (int i = 0; i < 50; ++i) {
      dump.Object(at, kNode, {0, 0});
      at += one.node;
      dump.ObjectArray(at, kArray, {0, 0, 0, 0});
      at += one.four_references;
      dump.PrimitiveArray(at, FieldType::kByte, {1, 2, 3, 4, 5, 6, 7, 8, 9});
      at += one.nine_bytes;
      dump.PrimitiveArray(at, FieldType::kLong, {1});
      at += one.one_long;
    }
    // Not seen before another object: nothing but the layout tells its size.
    dump.PrimitiveArray(at, FieldType::kByte, std::vector<uint64_t>(100));
    const Heap heap = Loaded(dump.Finish());
    EXPECT_EQ(Size(heap, 0x20000), one.node);
    EXPECT_EQ(Size(heap, 0x20000 + one.node), one.four_references);
    EXPECT_EQ(Size(heap, at), one.hundred_bytes);
  }
}

// The slow, obvious way: what cannot be reached without a node is held by it.
class HeapOracle {
 public:
  std::map<uint64_t, std::set<uint64_t>> targets;
  std::set<uint64_t> roots;

  std::set<uint64_t> Reached(uint64_t without) const {
    std::set<uint64_t> reached;
    std::vector<uint64_t> waiting(roots.begin(), roots.end());
    while (!waiting.empty()) {
      const uint64_t id = waiting.back();
      waiting.pop_back();
      if (id == without || !targets.contains(id) || !reached.insert(id).second) continue;
      const std::set<uint64_t>& next = targets.at(id);
      waiting.insert(waiting.end(), next.begin(), next.end());
    }
    return reached;
  }
};

// Writes a random dump of nodes and arrays, in any order of addresses, with ids of no objects.
std::string RandomDump(uint32_t seed, uint32_t id_size, HeapOracle& oracle) {
  std::mt19937 random(seed);
  DumpWriter dump = Classes(id_size);
  for (const uint64_t id : {kObject, kClass, kNode, kArray, kReference, kWeak, kThread}) {
    oracle.targets[id] = {kObject};
    oracle.roots.insert(id);
  }
  const uint64_t objects = 1 + random() % 40;
  std::vector<uint64_t> ids;
  for (uint64_t i = 0; i < objects; ++i) ids.push_back(0x20000 + i * 64);
  if (seed % 2 == 0) std::ranges::shuffle(ids, random);
  const auto any = [&]() -> uint64_t {
    return random() % 5 == 0 ? 0 : random() % 9 == 0 ? 0x999999 : ids[random() % ids.size()];
  };
  for (const uint64_t id : ids) {
    std::vector<uint64_t> elements(random() % 2 == 0 ? 2 : random() % 6);
    const bool is_node = elements.size() == 2;
    for (uint64_t& element : elements) element = any();
    if (is_node) dump.Object(id, kNode, elements);
    if (!is_node) dump.ObjectArray(id, kArray, elements);
    if (random() % 7 == 0) dump.EndSegment();
    oracle.targets[id] = {elements.begin(), elements.end()};
    oracle.targets[id].insert(is_node ? kNode : kArray);
    if (random() % 15 == 0) {
      dump.Root(SubTag::kRootJniGlobal, id);
      oracle.roots.insert(id);
    }
  }
  return dump.Finish();
}

TEST(LoadTest, RetainedSizesAreThoseOfTheOracle) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    HeapOracle oracle;
    const Heap heap = Loaded(RandomDump(seed, seed % 3 == 0 ? 4 : 8, oracle));
    const std::set<uint64_t> all = oracle.Reached(0);
    uint64_t whole = 0;
    for (const uint64_t id : all) whole += Size(heap, id);
    for (const auto& [id, targets] : oracle.targets) {
      const bool is_reached = all.contains(id);
      EXPECT_EQ(heap.IsReachable(heap.NodeOf(id)), is_reached);
      if (!is_reached) continue;
      uint64_t left = 0;
      for (const uint64_t one : oracle.Reached(id)) left += Size(heap, one);
      EXPECT_EQ(Retained(heap, id), whole - left) << id;
    }
  }
}

}  // namespace
}  // namespace jprof::heap
