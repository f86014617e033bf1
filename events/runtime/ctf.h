/* Common Trace Format 1.8: the constants of packets, and the metadata that all traces have. What
 * `jprof events generate --language tsdl` writes and what the runtime writes is the same. */
#pragma once

#define JPROF_EVENTS_MAGIC 0xc1fc1fc1u
#define JPROF_EVENTS_STREAM 0u

/* The types, before everything else. Records have no padding. */
#define JPROF_EVENTS_TYPES                                                                   \
  "/* CTF 1.8 */\n\n"                                                                        \
  "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"                 \
  "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"               \
  "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"               \
  "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"               \
  "typealias integer { size = 8; align = 8; signed = true; } := int8_t;\n"                   \
  "typealias integer { size = 16; align = 8; signed = true; } := int16_t;\n"                 \
  "typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"                 \
  "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"                 \
  "typealias integer { size = 64; align = 8; signed = false; base = 16; } := address_t;\n"   \
  "typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := text_t;\n" \
  "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := float64_t;\n\n"

/* Arguments of the format: the UUID of the trace. */
#define JPROF_EVENTS_TRACE             \
  "trace {\n"                          \
  "  major = 1;\n"                     \
  "  minor = 8;\n"                     \
  "  uuid = \"%s\";\n"                 \
  "  byte_order = le;\n"               \
  "  packet.header := struct {\n"      \
  "    uint32_t magic;\n"              \
  "    uint8_t uuid[16];\n"            \
  "    uint32_t stream_id;\n"          \
  "    uint64_t stream_instance_id;\n" \
  "  };\n"                             \
  "};\n\n"

/* Arguments: ticks per second; the Unix time at tick 0 as seconds and, below one second, ticks. */
#define JPROF_EVENTS_CLOCK                                              \
  "clock {\n"                                                           \
  "  name = ticks;\n"                                                   \
  "  description = \"the time stamp counter; times are Unix times\";\n" \
  "  freq = %llu;\n"                                                    \
  "  offset_s = %lld;\n"                                                \
  "  offset = %llu;\n"                                                  \
  "  absolute = true;\n"                                                \
  "};\n\n"

#define JPROF_EVENTS_STREAMS                                                              \
  "typealias integer { size = 64; align = 8; signed = false; map = clock.ticks.value; } " \
  ":= ticks_t;\n\n"                                                                       \
  "stream {\n"                                                                            \
  "  id = 0;\n"                                                                           \
  "  event.header := struct {\n"                                                          \
  "    ticks_t timestamp;\n"                                                              \
  "    uint32_t id;\n"                                                                    \
  "  };\n"                                                                                \
  "  packet.context := struct {\n"                                                        \
  "    ticks_t timestamp_begin;\n"                                                        \
  "    ticks_t timestamp_end;\n"                                                          \
  "    uint64_t content_size;\n"                                                          \
  "    uint64_t packet_size;\n"                                                           \
  "    uint64_t events_discarded;\n"                                                      \
  "    uint32_t _process;\n"                                                              \
  "    uint32_t _thread;\n"                                                               \
  "    uint64_t _monotonic;\n"                                                            \
  "    text_t _thread_name[16];\n"                                                        \
  "  };\n"                                                                                \
  "};\n"
