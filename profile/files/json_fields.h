// Reads fields of a JSON object by name.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profile/files/printable_text.h"

namespace jprof::profile {

// An untrusted JSON object: a field that is missing or has another type leaves the output
// unchanged.
class JsonFields {
 public:
  explicit JsonFields(const nlohmann::json& object) : object_(object) {}

  const nlohmann::json& At(const char* name) const {
    static const nlohmann::json kNothing;
    const auto found = object_.is_object() ? object_.find(name) : object_.end();
    return object_.is_object() && found != object_.end() ? *found : kNothing;
  }
  JsonFields In(const char* name) const { return JsonFields(At(name)); }

  void Read(const char* name, std::string& text) const {
    if (const nlohmann::json& value = At(name); value.is_string()) text = Text(value);
  }
  void Read(const char* name, bool& flag) const {
    if (const nlohmann::json& value = At(name); value.is_boolean()) flag = value.get<bool>();
  }
  void Read(const char* name, double& number) const {
    if (const nlohmann::json& value = At(name); value.is_number()) number = value.get<double>();
  }
  void Read(const char* name, uint64_t& number) const {
    if (const nlohmann::json& value = At(name); value.is_number_unsigned())
      number = value.get<uint64_t>();
  }

  // Returns the texts of a list in printable form, or none for a value of another type.
  std::vector<std::string> Texts(const char* name) const {
    std::vector<std::string> texts;
    if (const nlohmann::json& list = At(name); list.is_array()) {
      for (const nlohmann::json& text : list) texts.push_back(Text(text));
    }
    return texts;
  }

  // Returns the text of a value in printable form, or an empty text for a value of another type.
  static std::string Text(const nlohmann::json& value) {
    return value.is_string() ? CleanText(value.get_ref<const std::string&>()) : std::string();
  }

 private:
  const nlohmann::json& object_;
};

}  // namespace jprof::profile
