// Names locks and the contexts in which they are taken.
#pragma once

#include <string>

#include "model/locks/lock_table.h"

namespace jprof::reports {

// Returns the name of the class of a lock.
std::string LockName(model::LockTable& table, size_t lock, model::NameForm form);

// Returns "Type.method < Type.caller < ...", with at most `frames` names.
std::string PathText(model::LockTable& table, size_t context, model::NameForm form, size_t frames);

// Returns what the report says below the table about orders that contradict each other. It is empty
// if there are none.
std::string CyclesText(model::LockTable& table, model::NameForm form);

}  // namespace jprof::reports
