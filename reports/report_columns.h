// Describes the columns of the reports of call trees, traces and locks.
#pragma once

#include <string_view>

#include "reports/print/legend.h"

namespace jprof::reports {

inline constexpr std::string_view kNameMeaning =
    "`J:pkg.Class.method(Type)` (`--names`), where J is the letter of the frame's kind; `+3` "
    "before it: three callers, each with this single callee, are not printed; `(5 more rows)`: "
    "what `--all` shows";

inline constexpr std::string_view kSpreadMeaning =
    "of a merged profile: the least value of the first metric, as measured (without a metric: of "
    "CALLS), in any merged profile; one without the context counts as 0; `-`: several contexts";

inline constexpr ColumnHelp kLogRtColumns[] = {
    {"LV", "level: 0 the thread, 1 its first method"},
    {"CALLS", "entries of this method in this calling context"},
    {"CEE", "without a metric: calls it made, the sum of its children's CALLS"},
    {"RAW", "with `--raw`: the exclusive value as measured"},
    {"ADJUST", "with `--raw`: the profiler's overhead in it, which is subtracted"},
    {"SELF",
     "the exclusive value of the metric: this node alone, without callees, corrected (`base` of "
     "CSV and JSON); `<X`: its 95 % interval, which ends at X, is wider than the value; further "
     "metrics are SELF-1, ..."},
    {"SAMPLES", "in place of SELF where the metric is sampled: not calibrated"},
    {"ERROR", "with `--raw`: about one standard deviation of SELF"},
    {"AB",
     "of a profile of `jprof objects`, in place of SELF: bytes of the objects that the method "
     "allocates itself in this context, the sum of the rows of classes (`--`) right below it"},
    {"AO", "the same: the number of these objects"},
    {"LB", "the same with `--live`: bytes of those objects that still exist"},
    {"LO", "the same with `--live`: the number of those objects that still exist"},
    {"ASKED", "the same with `--removed`: how many the bytecode has asked for, allocated or not"},
    {"CUM", "the inclusive value: SELF with everything below"},
    {"%", "CUM of the first metric in percent of the whole"},
    {"RUNS", "of a merged profile: how many of the merged profiles have this context"},
    {"MIN", kSpreadMeaning},
    {"MEDIAN", "the same: the median of all merged profiles; of an even number the lower of two"},
    {"MAX", "the same: the largest value"},
    {"CUM/CALL", "CUM of the first metric divided by CALLS"},
    {"P-SAMPLES",
     "of the counted run of a combined profile: samples in this context alone, in all sampled "
     "runs"},
    {"P-SELF", "the same: mean production time of a run in this context alone (`report combined`)"},
    {"P-CUM", "the same: mean production time of a run in it with all that it called"},
    {"+-", "half of the 95 % interval of P-CUM"},
    {"P-CUM/CALL", "P-CUM of one call; `rX`: of one entry, as recursion was folded"},
    {"DS",
     "dispatches: how often the thread was scheduled in while this was the current method; left "
     "out if there are none"},
    {"IN", "interrupts that came while this was the current method; only with `jprof timeline`"},
    {"NAME", kNameMeaning},
};

inline constexpr ColumnHelp kLabelsColumns[] = {
    {"%",
     "SELF of the first metric in percent of the whole (without a metric: CALLS; the sets of "
     "labels are a part of the whole)"},
    {"SELF",
     "of a label: what the program spent while it was the innermost label; of a method below it: "
     "what the method itself spent then"},
    {"SAMPLES", "in place of SELF where the metric is sampled"},
    {"SET", "how often the label was set"},
    {"CALLS",
     "of a label: calls of methods while it was the innermost label; of a method: its own"},
    {"PER-SET",
     "CALLS divided by SET: a method that is called once for each of many rows shows here"},
    {"NAME",
     "the label, and below it the methods with the most calls; `(no label)`: what was done while "
     "none was set"},
};

inline constexpr ColumnHelp kMethodsColumns[] = {
    {"SELF%", "SELF in percent of the whole (without a metric: CALLS)"},
    {"CUM%", "CUM in percent of the whole"},
    {"CALLS", "entries of the method"},
    {"CTX", "the number of its calling contexts"},
    {"RAW", "with `--raw`: the exclusive value as measured"},
    {"ADJUST", "with `--raw`: the profiler's overhead in it, which is subtracted"},
    {"SELF",
     "the exclusive value of the metric (`base` of CSV and JSON); further metrics are SELF-1, ..."},
    {"SAMPLES", "in place of SELF where the metric is sampled: not calibrated"},
    {"ERROR", "with `--raw`: about one standard deviation of SELF"},
    {"CUM", "SELF with all callees, where a method below itself is not counted again"},
    {"SELF/CALL", "SELF of the first metric divided by CALLS"},
    {"NAME", "the method; behind `<` its main caller, and that caller's share of SELF"},
};

inline constexpr ColumnHelp kSeriesColumns[] = {
    {"SELF",
     "the method's own value of the metric in all columns, corrected (`base` of CSV and JSON)"},
    {"SAMPLES", "in place of SELF where the metric is sampled"},
    {"CALLS", "entries of this method in all columns, in any context"},
    {"TREND",
     "a character for each part of the time: SELF (without a metric: CALLS) there, the highest for "
     "the method's own maximum, `.` for none. CSV and JSON have every interval: `calls_at` and "
     "`base_at`"},
    {"NAME", kNameMeaning},
};

inline constexpr ColumnHelp kScsColumns[] = {
    {"LV", "level: 0 the thread, 1 its first method"},
    {"SAMPLES",
     "taken in this node alone (exclusive); with "
     "several events one column for each, with its name"},
    {"CUM", "SAMPLES with everything below (inclusive)"},
    {"%", "CUM of the first event in percent of the whole"},
    {"RUNS", "of a merged profile: how many of the merged profiles have this context"},
    {"MIN", kSpreadMeaning},
    {"MEDIAN", "the same: the median of all merged profiles; of an even number the lower of two"},
    {"MAX", "the same: the largest value"},
    {"CALLS", "entries, which are exact: only in a profile by `calltree --sample`"},
    {"NAME", "the frame, behind the letter of its kind"},
};

inline constexpr ColumnHelp kDistributionColumns[] = {
    {"CALLS", "calls that were timed, each by itself"},
    {"MIN", "the shortest call: CPU time with all that it called, without the profiler's share"},
    {"P50",
     "the time that half of the calls did not exceed, known to a quarter of its value; `<X`: more "
     "than half of what was measured is the profiler's, and X is the most that it can be"},
    {"P90", "the same for 90 % of the calls"},
    {"P99", "the same for 99 % of the calls"},
    {"MAX", "the longest call"},
    {"MEAN", "the mean of all calls, which is exact to the calibration's error"},
    {"EL-P50", "the elapsed time that half of the calls did not exceed, with all waiting"},
    {"EL-P99", "the same for 99 % of the calls"},
    {"EL-MAX", "the longest call by elapsed time"},
    {"OWN%",
     "the profiler's share, which is subtracted, in percent of the CPU time as it was measured"},
    {"HISTOGRAM",
     "calls by CPU time: each character is a factor of 2, from and to what the last line says; its "
     "height is the logarithm of their number, so that one slow call can be seen"},
    {"NAME",
     "the method; with `--contexts` a row for each of its contexts, with its callers behind `<`"},
};

inline constexpr ColumnHelp kSlowColumns[] = {
    {"WALL",
     "elapsed time by the clock on the wall, with all that the call made; in the rows below the "
     "call it is the sum of CPU and OFF-CPU"},
    {"CPU", "the part of it in which the thread ran, with the cost of the probes in it"},
    {"OFF-CPU", "the part in which it did not run: it waited, slept, or others had the processor"},
    {"CALLS", "calls in this context inside the slow call; of missing events their number"},
    {"NAME",
     "`#1` the slow call: when it began, on which thread, and how many events it has; `before`: "
     "the calls that began last before it, and those that still run, the latest one last; then the "
     "tree of what it called"},
};

inline constexpr ColumnHelp kLogGenColumns[] = {
    {"tid", "the thread's id"},
    {"thread", "the thread's name"},
    {"event", "`entry` or `exit`"},
    {"type", "the method's letter"},
    {"delta", "the change of the first metric since the thread's previous event"},
    {"missing_before", "events that were dropped or overwritten before this one"},
    {"name", "the method"},
};

inline constexpr ColumnHelp kLogJlmColumns[] = {
    {"%MISS", "100 SLOW / NONREC: how often a thread had to wait for it"},
    {"GETS", "times that a lock of this class was taken: NONREC + REC"},
    {"NONREC", "times that the thread did not have it already"},
    {"SLOW", "times that a thread had to wait, because another one had it"},
    {"REC", "times that the thread had it already"},
    {"TIER2", "spins of the middle level: `-`, HotSpot does not tell"},
    {"TIER3", "spins of the outer level: `-`, HotSpot does not tell"},
    {"%UTIL",
     "HOLD in percent of the recorded time; above 100 where several objects of the class are held "
     "at once; `-`: recorded with --lite, or the recording has not ended"},
    {"AVER_HTM", "mean time from taking to releasing it; `-`: recorded with --lite"},
    {"WAIT", "time that threads waited for it"},
    {"NAME",
     "the class of the lock; with `--contexts` below it `in`: where it is taken, `waits in ... "
     "for`: who waits, and where the owner had taken it"},
};

inline constexpr ColumnHelp kCombinedColumns[] = {
    {"LV", "level: 0 all threads, 1 their first methods"},
    {"CALLS", "calls in the counted run: exact; `-`: not a Java method, cannot be counted"},
    {"SAMPLES", "taken in this context alone, in all sampled runs together"},
    {"SELF",
     "mean time of a run in this context alone, from the samples; `~X`: fewer than 10 samples, an "
     "estimate from the calls"},
    {"CUM", "mean time of a run in it with all that it called"},
    {"+-",
     "half of the 95 % interval: first of CUM, then of CUM/CALL; empty behind `<X`, behind `~X` "
     "the "
     "upper end of the interval, `<Y`"},
    {"%", "CUM in percent of all samples"},
    {"CUM/CALL",
     "what one call takes with all that it called; of a recursion CUM is divided by the outermost "
     "calls; `rX`: per entry, as the counted run folded recursion and did not tell them apart"},
    {"NAME", kNameMeaning},
};

}  // namespace jprof::reports
