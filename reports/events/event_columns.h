// Explains the columns of the reports of events.
#pragma once

#include "reports/print/legend.h"

namespace jprof::reports {

inline constexpr ColumnHelp kTimelineColumns[] = {
    {"RAN", "time on a processor, without interrupts"},
    {"%", "RAN in percent of the recorded time"},
    {"READY", "time in which it could have run and did not: other threads had the processors"},
    {"WAITED", "time in which it waited for something else"},
    {"INTR", "time of interrupts that came while it ran"},
    {"DISP", "how often it ran: its stretches"},
    {"PREEMPT", "how often its processor was given to another thread although it could run on"},
    {"TID", "the thread's id"},
    {"LONGEST", "the longest of these waits"},
    {"COUNT", "how many waits these are"},
    {"FOR", "what they were for: docs/TIMELINE.md"},
};

inline constexpr ColumnHelp kPathColumns[] = {
    {"TIME", "how much of the time until the end is due to this"},
    {"%", "TIME in percent of the path"},
    {"LONGEST", "the longest piece"},
    {"COUNT", "how many pieces these are"},
    {"WHAT", "`runs`; `ready`: other threads had the processors; else what was waited for"},
};

inline constexpr ColumnHelp kUtilisationColumns[] = {
    {"FROM", "begin of the interval, since the recording began"},
    {"TO", "its end; the last rows are about the whole recording"},
    {"CPU", "the processor"},
    {"IDLE%", "time in which it ran no thread, without interrupts"},
    {"USER%", "time of threads outside of system calls; `-`: recorded without them"},
    {"KERNEL%", "time of threads in system calls"},
    {"THREADS%", "both together"},
    {"INTR%", "time of interrupts"},
    {"UNSEEN%", "time in which it is not known what it ran: `jprof info --quality`"},
    {"DISP", "dispatches"},
    {"INTRS", "interrupts"},
};

}  // namespace jprof::reports
