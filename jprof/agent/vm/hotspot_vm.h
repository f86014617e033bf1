// Holds the structures of this process's HotSpot VM.
#pragma once

#include "common/result.h"
#include "jprof/hotspot/vm/vm.h"

namespace jprof::agent {

struct HotspotVm {
  hotspot::VmStructs structs;
  hotspot::Vm vm;

  // Fails (wrong use) if this JVM is not HotSpot or lacks a required structure.
  static Result<HotspotVm> Open();
};

}  // namespace jprof::agent
