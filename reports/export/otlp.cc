// Writes OTLP: the profiles signal as JSON, one line of ProfilesData. Names of fields are those of
// the published opentelemetry-proto 1.11 (profiles/v1development) in lowerCamelCase; 64-bit
// integers are texts, as its mapping to JSON requires.
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "model/tree/context_tree.h"
#include "reports/export/export_list.h"
#include "reports/export/stacks.h"
#include "reports/export/string_table.h"
#include "reports/print/json_writer.h"

namespace jprof::reports {
namespace {

class OtlpWriter {
 public:
  OtlpWriter(const model::ContextTree& tree, const std::string& name, Output& out)
      : tree_(tree), name_(name), out_(out), json_(out), sums_(tree.Sums()) {
    attributes_.push_back({0, ""});
  }

  void Write() {
    NumberStacks();
    NumberAttributes();
    json_.StartObject();
    json_.Key("resourceProfiles");
    json_.StartArray();
    json_.StartObject();
    WriteResource();
    WriteScope();
    json_.EndObject();
    json_.EndArray();
    WriteDictionary();
    json_.EndObject();
    json_.Finish();
  }

 private:
  struct Attribute {
    uint32_t key = 0;  // in the string table
    std::string value;
    bool number = false;
  };

  // Numbers the stacks of contexts that have a value. Stack 0 is empty.
  void NumberStacks() {
    stack_of_.resize(tree_.nodes.size());
    for (model::NodeIndex node = 0; node < stack_of_.size(); ++node) {
      const bool any =
          std::ranges::any_of(sums_, [&](size_t m) { return tree_.Value(node, m) != 0; });
      if (any) stack_of_[node] = ++stacks_;
    }
  }

  void NumberAttributes() {
    const auto add = [&](const char* key, std::string value, bool number = false) {
      attributes_.push_back({strings_.Of(key), std::move(value), number});
      return static_cast<uint32_t>(attributes_.size() - 1);
    };
    for (const model::ExportThread& thread : tree_.threads) {
      std::vector<uint32_t>& of = thread_attributes_.emplace_back();
      of.push_back(add("thread.name", thread.name));
      if (thread.tid != 0) of.push_back(add("thread.id", std::to_string(thread.tid), true));
    }
    for (const char* kind : {"jvm", "native", "kernel"})
      kind_attributes_.push_back(add("profile.frame.type", kind));
    for (const model::ExportModule& module : tree_.modules) {
      build_ids_.push_back(
          module.build_id.empty() ? 0 : add("process.executable.build_id.gnu", module.build_id));
    }
  }

  void StringAttribute(const char* key, const std::string& value) {
    if (value.empty() || !written_.insert(key).second) return;
    json_.StartObject();
    json_.Member("key", key);
    json_.Key("value");
    json_.StartObject();
    json_.Member("stringValue", value);
    json_.EndObject();
    json_.EndObject();
  }

  void WriteResource() {
    json_.Key("resource");
    json_.StartObject();
    json_.Key("attributes");
    json_.StartArray();
    // What the program has published comes first: an attribute may be there once only.
    for (const auto& [key, value] : tree_.run.attributes) StringAttribute(key.c_str(), value);
    StringAttribute("service.name", name_);
    StringAttribute("process.command_line", tree_.run.command);
    StringAttribute("process.runtime.description", tree_.run.jvm);
    StringAttribute("jprof.mode", tree_.run.mode);
    StringAttribute("jprof.machine", tree_.run.machine);
    StringAttribute("jprof.notes", fmt::format("{}", fmt::join(tree_.run.notes, "; ")));
    if (tree_.run.pid != 0 && written_.insert("process.pid").second) WritePid();
    json_.EndArray();
    json_.EndObject();
  }

  void WritePid() {
    json_.StartObject();
    json_.Member("key", "process.pid");
    json_.Key("value");
    json_.StartObject();
    Long("intValue", tree_.run.pid);
    json_.EndObject();
    json_.EndObject();
  }

  void WriteScope() {
    json_.Key("scopeProfiles");
    json_.StartArray();
    json_.StartObject();
    json_.Key("scope");
    json_.StartObject();
    json_.Member("name", "jprof");
    json_.Member("version", tree_.run.jprof);
    json_.EndObject();
    json_.Key("profiles");
    json_.StartArray();  // viewers show the first one
    if (!tree_.measures.empty()) WriteProfile(tree_.preferred);
    for (const size_t m : sums_) {
      if (m != tree_.preferred) WriteProfile(m);
    }
    json_.EndArray();
    json_.EndObject();
    json_.EndArray();
  }

  void Long(const char* key, auto value) { json_.Member(key, std::to_string(value)); }

  void ValueType(const char* key, const std::string& type, const std::string& unit) {
    json_.Key(key);
    json_.StartObject();
    json_.Member("typeStrindex", strings_.Of(type));
    json_.Member("unitStrindex", strings_.Of(unit));
    json_.EndObject();
  }

  void WriteProfile(size_t m) {
    const model::Measure& measure = tree_.measures[m];
    json_.StartObject();
    ValueType("sampleType", measure.name, measure.unit);
    Long("timeUnixNano", tree_.run.start_unix_ns);
    Long("durationNano", tree_.run.duration_ns);
    if (measure.period > 0) {
      ValueType("periodType", model::PeriodType(measure), measure.period_unit);
      Long("period", measure.period);
    }
    json_.Key("samples");
    json_.StartArray();
    for (model::NodeIndex node = 0; node < tree_.nodes.size() && out_.ok(); ++node)
      WriteSample(node, m);
    json_.EndArray();
    json_.EndObject();
  }

  void WriteSample(model::NodeIndex node, size_t m) {
    const int64_t value = tree_.Value(node, m);
    if (value == 0) return;
    json_.StartObject();
    json_.Member("stackIndex", stack_of_[node]);
    Numbers("attributeIndices", thread_attributes_[IndexOf(tree_.nodes[node].thread)]);
    json_.Key("values");
    json_.StartArray();
    json_.String(std::to_string(value));
    json_.EndArray();
    json_.EndObject();
  }

  void Numbers(const char* key, const std::vector<uint32_t>& numbers) {
    json_.Key(key);
    json_.StartArray();
    for (const uint32_t number : numbers) json_.Value(number);
    json_.EndArray();
  }

  // Writes a table whose first element is the zero value.
  template <typename WriteRows>
  void Table(const char* key, const WriteRows& write) {
    json_.Key(key);
    json_.StartArray();
    json_.StartObject();
    json_.EndObject();
    write();
    json_.EndArray();
  }

  void WriteDictionary() {
    json_.Key("dictionary");
    json_.StartObject();
    Table("mappingTable", [&] { WriteMappings(); });
    Table("locationTable", [&] { WriteLocations(); });
    Table("functionTable", [&] { WriteFunctions(); });
    Table("linkTable", [] {});
    Table("stackTable", [&] { WriteStacks(); });
    Table("attributeTable", [&] { WriteAttributes(); });
    json_.Key("stringTable");
    json_.StartArray();
    for (const std::string* text : strings_.texts()) json_.String(*text);
    json_.EndArray();
    json_.EndObject();
  }

  void WriteMappings() {
    for (size_t i = 0; i < tree_.modules.size(); ++i) {
      json_.StartObject();
      json_.Member("filenameStrindex", strings_.Of(tree_.modules[i].path));
      if (build_ids_[i] != 0) Numbers("attributeIndices", {build_ids_[i]});
      json_.EndObject();
    }
  }

  // Writes one location for each frame, in the same order. The location of a thread represents what
  // is outside any method.
  void WriteLocations() {
    for (uint32_t i = 0; i < tree_.frames.size(); ++i) {
      const model::ExportFrame& frame = tree_.frames[i];
      const size_t kind = frame.kind == model::ExportFrame::Kind::kNative   ? 1
                          : frame.kind == model::ExportFrame::Kind::kKernel ? 2
                                                                            : 0;
      json_.StartObject();
      json_.Member("mappingIndex", frame.module + 1);
      json_.Key("lines");
      json_.StartArray();
      json_.StartObject();
      json_.Member("functionIndex", i + 1);
      json_.EndObject();
      json_.EndArray();
      Numbers("attributeIndices", {kind_attributes_[kind]});
      json_.EndObject();
    }
  }

  void WriteFunctions() {
    for (const model::ExportFrame& frame : tree_.frames) {
      const bool thread = frame.kind == model::ExportFrame::Kind::kThread;
      json_.StartObject();
      json_.Member("nameStrindex", strings_.Of(thread ? "(outside any method)" : frame.readable));
      json_.Member("systemNameStrindex", strings_.Of(thread ? "" : frame.full));
      json_.EndObject();
    }
  }

  // Writes the stacks, the leaf first. The thread itself is an attribute, not a frame.
  void WriteStacks() {
    std::vector<uint32_t> stack;
    for (model::NodeIndex node = 0; node < tree_.nodes.size() && out_.ok(); ++node) {
      if (stack_of_[node] == 0) continue;
      stack.clear();
      for (model::NodeIndex at = node; tree_.nodes[at].parent != model::kNoNode;
           at = tree_.nodes[at].parent)
        stack.push_back(IndexOf(tree_.nodes[at].frame) + 1);
      if (stack.empty()) stack.push_back(IndexOf(tree_.nodes[node].frame) + 1);
      json_.StartObject();
      Numbers("locationIndices", stack);
      json_.EndObject();
    }
  }

  void WriteAttributes() {
    for (size_t i = 1; i < attributes_.size(); ++i) {
      const Attribute& attribute = attributes_[i];
      json_.StartObject();
      json_.Member("keyStrindex", attribute.key);
      json_.Key("value");
      json_.StartObject();
      json_.Member(attribute.number ? "intValue" : "stringValue", attribute.value);
      json_.EndObject();
      json_.EndObject();
    }
  }

  const model::ContextTree& tree_;
  const std::string& name_;
  Output& out_;
  JsonWriter json_;
  StringTable strings_;
  std::vector<size_t> sums_;
  std::vector<uint32_t> stack_of_;  // by node; 0 for none
  uint32_t stacks_ = 0;
  std::vector<Attribute> attributes_;
  std::vector<std::vector<uint32_t>> thread_attributes_;  // by thread
  std::vector<uint32_t> kind_attributes_;
  std::vector<uint32_t> build_ids_;  // by module; 0 for none
  std::set<std::string> written_;    // attributes of the resource
};

}  // namespace

Result<void> WriteOtlp(const model::ContextTree& tree, const std::string& name, Output& out) {
  return WriteStacks(tree, "otlp", out, [&](const model::ContextTree& stacks) -> Result<void> {
    OtlpWriter(stacks, name, out).Write();
    return {};
  });
}

}  // namespace jprof::reports
