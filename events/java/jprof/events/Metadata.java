package jprof.events;

import java.util.UUID;

/** What the metadata of all traces begin with: that of events/runtime/ctf.h, with another clock. */
final class Metadata {
    private Metadata() {}

    static String head(UUID id, boolean closed) {
        long monotonic = System.nanoTime();
        java.time.Instant now = java.time.Instant.now();
        long unix = now.getEpochSecond() * 1_000_000_000L + now.getNano();
        long offset = unix - monotonic;
        return TEXT.replace("UUID", id.toString())
                .replace("SECONDS", Long.toString(offset / 1_000_000_000L))
                .replace("NANOS", Long.toString(offset % 1_000_000_000L))
                .replace("CLOSED", closed ? "1" : "0")
                .replace("PROCESS", Long.toString(ProcessHandle.current().pid()));
    }

    private static final String TEXT =
            """
            /* CTF 1.8 */

            typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
            typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
            typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
            typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
            typealias integer { size = 8; align = 8; signed = true; } := int8_t;
            typealias integer { size = 16; align = 8; signed = true; } := int16_t;
            typealias integer { size = 32; align = 8; signed = true; } := int32_t;
            typealias integer { size = 64; align = 8; signed = true; } := int64_t;
            typealias integer { size = 64; align = 8; signed = false; base = 16; } := address_t;
            typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := text_t;
            typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := float64_t;

            trace {
              major = 1;
              minor = 8;
              uuid = "UUID";
              byte_order = le;
              packet.header := struct {
                uint32_t magic;
                uint8_t uuid[16];
                uint32_t stream_id;
                uint64_t stream_instance_id;
              };
            };

            clock {
              name = ticks;
              description = "System.nanoTime; times are Unix times";
              freq = 1000000000;
              offset_s = SECONDS;
              offset = NANOS;
              absolute = true;
            };

            env {
              tracer_name = "jprof";
              tracer_major = 1;
              process = PROCESS;
              closed = CLOSED;
            };

            typealias integer {
              size = 64; align = 8; signed = false; map = clock.ticks.value;
            } := ticks_t;

            stream {
              id = 0;
              event.header := struct {
                ticks_t timestamp;
                uint32_t id;
              };
              packet.context := struct {
                ticks_t timestamp_begin;
                ticks_t timestamp_end;
                uint64_t content_size;
                uint64_t packet_size;
                uint64_t events_discarded;
                uint32_t _process;
                uint32_t _thread;
                uint64_t _monotonic;
                text_t _thread_name[16];
              };
            };
            """;
}
