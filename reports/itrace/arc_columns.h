// Explains the columns of the reports of instruction traces.
#pragma once

#include "reports/print/legend.h"

namespace jprof::reports {

inline constexpr ColumnHelp kArcColumns[] = {
    {"SELF", "instructions executed in the function itself"},
    {"SELF%", "SELF in percent of all instructions"},
    {"CUM", "SELF with all that it called; of a recursion the outermost call counts"},
    {"CUM%", "CUM in percent of all instructions"},
    {"CALLS", "how often it was entered at its beginning"},
    {"CUM/CALL",
     "CUM of one call: of a recursion CUM is divided "
     "by the outermost calls; `-`: it was not called"},
    {"FUNCTION", "the letter of scs, then `module.function` or the Java method"},
};

inline constexpr ColumnHelp kMemoryColumns[] = {
    {"REFS", "references to memory by the function's own instructions, or to the row's memory"},
    {"%", "REFS in percent of all references"},
    {"LOADS", "references that read; one that also writes is in LOADS and in STORES"},
    {"STORES", "references that write"},
    {"LINES", "different cache lines (64 bytes) of these references"},
    {"PAGES", "different pages (4 KiB): its working set"},
    {"WALKS",
     "references that neither level of a data TLB like this processor's, with pages of 4 KiB, has "
     "a translation for; simulated over all threads together"},
    {"FUNCTION", "the letter of scs, then `module.function` or the Java method"},
    {"MEMORY",
     "in the table by site: the functions that allocated it, innermost first, or what it is; "
     "`not known`: in no log"},
};

inline constexpr ColumnHelp kArcCallColumns[] = {
    {"CUM", "instructions of the callee, with all that it called, on behalf of this caller"},
    {"CUM%", "CUM in percent of all instructions"},
    {"CALLS", "how often this caller called it; 0: it was entered in its middle"},
    {"CUM/CALL", "CUM of one call, as above; `-`: all calls were below the callee itself"},
    {"CALLER -> CALLEE", "`(thread)`: tracing began there; `(signal)`: the callee is its handler"},
};

}  // namespace jprof::reports
