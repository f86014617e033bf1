// Generates files of a specification of events: stubs, by which programs write events; readers of
// their records; a reference; metadata. All functions are pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/spec/specification.h"

namespace jprof::events {

struct GeneratedFile {
  std::string name;  // without a folder
  std::string text;
};
using GeneratedFiles = std::vector<GeneratedFile>;

// shop_events.h and shop_events.c of a specification "shop": functions that write events, and
// functions that read their records.
GeneratedFiles GenerateC(const Specification& specification);
// shop_events.hpp: the same in namespaces, over the files of GenerateC, which it includes.
GeneratedFiles GenerateCpp(const Specification& specification);
// shop_events.f90: the same as a module, over shop_events.c.
GeneratedFiles GenerateFortran(const Specification& specification);
// ShopEvents.java of the package shop_events: functions that write events, and records with
// functions that read them, over jprof-events.jar.
GeneratedFiles GenerateJava(const Specification& specification);
// shop_layout.h: the records of the events as structures of C. Leaves out events with a text that
// is not their last field.
GeneratedFiles GenerateLayout(const Specification& specification);
// shop_events.html: what each event means.
GeneratedFiles GenerateHtml(const Specification& specification);
// metadata: that of a trace of these events in Common Trace Format 1.8, with a clock that counts
// nanoseconds and a UUID of zeros.
GeneratedFiles GenerateTsdl(const Specification& specification);

struct Language {
  std::string_view name;
  std::string_view description;
  GeneratedFiles (*generate)(const Specification& specification);
};

inline constexpr Language kLanguages[] = {
    {"c", "stubs and readers", GenerateC},
    {"c++", "the same, and those of C", GenerateCpp},
    {"java", "stubs and readers, with jprof-events.jar", GenerateJava},
    {"fortran", "the same, and those of C", GenerateFortran},
    {"layout", "the records as structures of C", GenerateLayout},
    {"html", "the reference", GenerateHtml},
    {"tsdl", "the metadata of Common Trace Format 1.8", GenerateTsdl},
};

}  // namespace jprof::events
