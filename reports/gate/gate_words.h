// Says in words what a gate found, for all formats that people read.
#pragma once

#include <string>
#include <vector>

#include "reports/gate/gate_report.h"

namespace jprof::reports {

// Returns "FAILED: 1 of 2 conditions is violated", or "passed: 2 conditions hold".
std::string HeadlineOf(const Verdict& verdict);

// Returns "120 -> 131 (+11, +9.17 %)", with 95 % intervals where values are uncertain.
std::string ChangeText(const GateMetric& metric, const GateChange& change);

// Returns what a condition found in one line: its change, or how many of each violate it.
std::string FoundText(const ConditionVerdict& verdict);

// Returns a change with its sign, "+11" or "+3.20 ms".
std::string GrowthText(const GateMetric& metric, const GateChange& change);

// Returns the method, or the context as "leaf < caller < ...".
std::string NameText(const GateReport& report, const GateItem& item);

// Returns "4", or "4 to 7".
std::string RunsText(const GateMetric& metric, const GateVaries::Runs& runs);

// Returns what was kept out and why, a sentence each, without the methods that vary.
std::vector<std::string> KeptOutTexts(const GateReport& report, const GateKeptOut& kept_out);

}  // namespace jprof::reports
