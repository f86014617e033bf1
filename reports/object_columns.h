// The columns of the reports of allocated objects, as their help and docs/REPORTS.md explain them.
#pragma once

#include "reports/report_list.h"

namespace jprof::reports {

inline constexpr std::string_view kAskedMeaning =
    "of `jprof objects --removed`: how many the bytecode has asked for, by `new` and the "
    "instructions of arrays, allocated or not";

inline constexpr ColumnHelp kObjectsColumns[] = {
    {"%", "AB in percent of the bytes of all objects"},
    {"AB", "bytes of the allocated objects of the class; of a method, those that it allocates"},
    {"AO", "the number of these objects"},
    {"LB", "with `--live`: bytes of those of these objects that still exist"},
    {"+-LB", "half of the 95 % interval of LB, which was estimated (`--live sampled`)"},
    {"LO", "with `--live`: the number of those of these objects that still exist"},
    {"+-LO", "half of the 95 % interval of LO"},
    {"ASKED", kAskedMeaning},
    {"CTX", "the number of calling contexts in which they are allocated"},
    {"NAME",
     "the class; behind `<` a method that allocates it, and if that belongs to the JDK, the method "
     "of the program that had most bytes allocated by it, with its share of them; `(not seen by "
     "the probe)`: the bytes that the JVM has counted and its probe has not reported; "
     "`(overflow)`: objects of any class past the memory limit of the call tree"},
};

inline constexpr ColumnHelp kGrowthColumns[] = {
    {"LB/S",
     "bytes by which the live objects grow in a second: the slope over the snapshots, of six or "
     "more without the first half"},
    {"+-", "half of its 95 % interval"},
    {"SURE", "whether the interval is above 0; these contexts come first"},
    {"LB", "bytes of the live objects at the last snapshot"},
    {"LO", "their number"},
    {"NAME", "the class, and behind `<` the method that allocates it and its callers"},
};

inline constexpr ColumnHelp kRemovedColumns[] = {
    {"%", "REMOVED in percent of all removed objects"},
    {"AB", "bytes of the objects that were allocated"},
    {"AO", "the number of these objects"},
    {"ASKED", kAskedMeaning},
    {"REMOVED",
     "objects asked for and not allocated, ASKED less AO where that is above 0, summed over the "
     "contexts: what compilers have removed"},
    {"NO-NEW",
     "the opposite, AO less ASKED: objects allocated without an instruction of counted code, by "
     "native methods, reflection, clone, lambdas, intrinsics and the VM itself"},
    {"CTX", "the number of calling contexts in which they are asked for or allocated"},
    {"NAME", "the class; behind `<` a method that asks for it or allocates it"},
};

}  // namespace jprof::reports
