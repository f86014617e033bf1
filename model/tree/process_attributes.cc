#include "model/tree/process_attributes.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <protozero/pbf_reader.hpp>

#include "common/fd.h"
#include "profile/files/printable_text.h"
#include "profile/files/process_context.h"
#include "profile/read/reader_file.h"

namespace jprof::model {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr uint64_t kContextLimit = 1 << 20;
constexpr size_t kMostAttributes = 256;

// The numbers of fields in opentelemetry-proto: ProcessContext, Resource, KeyValue, AnyValue.
enum ContextField { kResource = 1, kMoreAttributes = 2 };
enum ResourceField { kAttribute = 1 };
enum KeyValueField { kKey = 1, kValue = 2 };
enum AnyValueField { kText = 1, kTruth = 2, kWhole = 3, kReal = 4 };

std::optional<std::string> ReadAnyValue(pbf_reader message) {
  std::optional<std::string> value;
  while (message.next()) {
    const auto tag = message.tag();
    const auto type = message.wire_type();
    if (tag == kText && type == pbf_wire_type::length_delimited) {
      value = profile::CleanText(message.get_string());
    } else if (tag == kTruth && type == pbf_wire_type::varint) {
      value = message.get_bool() ? "true" : "false";
    } else if (tag == kWhole && type == pbf_wire_type::varint) {
      value = std::to_string(message.get_int64());
    } else if (tag == kReal && type == pbf_wire_type::fixed64) {
      value = fmt::format("{}", message.get_double());
    } else {
      message.skip();
    }
  }
  return value;
}

void AddKeyValue(pbf_reader message, ProcessAttributes& to) {
  std::string key;
  std::optional<std::string> value;
  while (message.next()) {
    if (message.wire_type() != pbf_wire_type::length_delimited) {
      message.skip();
    } else if (message.tag() == kKey) {
      key = profile::CleanText(message.get_string());
    } else if (message.tag() == kValue) {
      value = ReadAnyValue(message.get_message());
    } else {
      message.skip();
    }
  }
  const bool is_known =
      std::ranges::find(to, key, &ProcessAttributes::value_type::first) != to.end();
  if (!key.empty() && value && !is_known && to.size() < kMostAttributes)
    to.emplace_back(std::move(key), *std::move(value));
}

// Adds the attributes of a message, which are in the field `number`.
void AddAttributes(pbf_reader message, uint32_t number, ProcessAttributes& to) {
  while (message.next(number, pbf_wire_type::length_delimited))
    AddKeyValue(message.get_message(), to);
}

}  // namespace

ProcessAttributes DecodeProcessContext(std::string_view message) {
  ProcessAttributes attributes;
  try {
    pbf_reader reader(message.data(), message.size());
    while (reader.next()) {
      const bool is_message = reader.wire_type() == pbf_wire_type::length_delimited;
      if (is_message && reader.tag() == kResource) {
        AddAttributes(reader.get_message(), kAttribute, attributes);
      } else if (is_message && reader.tag() == kMoreAttributes) {
        AddKeyValue(reader.get_message(), attributes);
      } else {
        reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    return attributes;
  }
  return attributes;
}

ProcessAttributes ReadProcessAttributes(const std::string& directory) {
  const Fd folder(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const profile::ReaderFile file(folder.get(), profile::kProcessContextFile);
  return file.exists() ? DecodeProcessContext(file.ReadAll(kContextLimit)) : ProcessAttributes();
}

}  // namespace jprof::model
