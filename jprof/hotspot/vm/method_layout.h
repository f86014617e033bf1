// Describes the layout of the parts of a method that jprof reads: offsets in Method, ConstMethod,
// ConstantPool, Klass and Symbol, and their sizes.
#pragma once

#include <cstdint>

#include "jprof/hotspot/vm/struct_lookup.h"

namespace jprof::hotspot {

struct MethodLayout {
  static constexpr uint32_t kAccStatic = 0x0008, kAccNative = 0x0100;

  explicit MethodLayout(Fields& field)
      : const_method(field("Method", "_constMethod")),
        access_flags(field("Method", "_access_flags")),
        access_flags_bytes(field.Size("AccessFlags")),
        intrinsic_id(field.Optional("Method", "_intrinsic_id")),
        method_bytes(field.Size("Method")),
        constants(field("ConstMethod", "_constants")),
        code_size(field("ConstMethod", "_code_size")),
        name_index(field("ConstMethod", "_name_index")),
        signature_index(field("ConstMethod", "_signature_index")),
        const_method_bytes(field.Size("ConstMethod")),
        pool_holder(field("ConstantPool", "_pool_holder")),
        pool_length(field("ConstantPool", "_length")),
        source_file_index(field.Optional("ConstantPool", "_source_file_name_index")),
        pool_bytes(field.Size("ConstantPool")),
        klass_name(field("Klass", "_name")),
        symbol_length(field("Symbol", "_length")),
        symbol_body(field("Symbol", "_body")) {}

  // Offsets in a Method.
  int64_t const_method;
  int64_t access_flags, access_flags_bytes;
  int64_t intrinsic_id;  // -1 if this VM does not have it
  int64_t method_bytes;
  // Offsets in a ConstMethod, and its size. Its bytecodes follow it.
  int64_t constants, code_size, name_index, signature_index, const_method_bytes;
  // Offsets in a ConstantPool, and its size. Its entries follow it.
  int64_t pool_holder, pool_length;
  int64_t source_file_index;  // of the entry with the name, 0 if the class has none; -1 as above
  int64_t pool_bytes;
  // Offsets in a Klass and in a Symbol.
  int64_t klass_name;
  int64_t symbol_length, symbol_body;
};

}  // namespace jprof::hotspot
