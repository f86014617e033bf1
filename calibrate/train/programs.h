// Decides which programs of the trainers a calibration runs, and how often.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/train/plan.h"

namespace jprof::calibrate {

// Describes a run of the trainer Transitions: each of `rounds` makes `calls` walks of each shape.
struct Size {
  int calls, rounds;
};

struct Sizes {
  int trainings;
  Size untraced, traced, train;
  int repeats;         // of the untraced and traced runs; the least of each shape is used
  int kernel_repeats;  // the same of the kernels' runs
  bool few_walks;      // of the kernels
};

// Returns the sizes of a plan. Counts hardly vary between walks: if all metrics are counters, few
// walks suffice. A quick plan then has one training and no check.
Sizes SizesOf(const Plan& plan);

// Returns the counters of the metric set as the trainer's argument: a+b.
std::string CountersOf(const Plan& plan);

// Describes a program: `main` is a class of the trainers' jar, or a kind of programs of the trainer
// of C functions.
struct Program {
  std::vector<std::string> options;  // of the JVM
  std::string main;
  std::vector<std::string> arguments;
  bool inlines = false;  // production code instead of the code that there is with probes
};

// Returns the program that walks the shapes.
Program ShapesProgram(const Plan& plan, const Size& size);

// Returns the kernels by compile state. In state R the JVM compiles by its own policy.
std::map<char, Program> KernelPrograms(const Plan& plan, const Sizes& sizes);

// Returns the same program with the arguments that make it count its own true cost.
Program Counted(Program program, const Plan& plan);

// Returns whether lost inlining is measured. It is in the error of times only; the interpreter does
// not inline, and functions of C with sleds are inlined as without.
bool MeasuresInlining(const Sizes& sizes, char state);

}  // namespace jprof::calibrate
