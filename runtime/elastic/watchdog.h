// The deadline of calls that have none of their own: LibTorch's store waits for ever for a peer that has gone silent, a
// dead network disk for its server.
#pragma once

#include "compiler/base/units.h"

namespace sail::rt {

// Ends this process after `deadline`, and with it its children (process.h), unless called again before: exit code 7, or
// 128 + signal after a stop signal. `error`, a literal, is then one line on stderr.
void EndAfterSilence(Seconds deadline, const char* error);
// No deadline from now on.
void EndNoMore();

}  // namespace sail::rt
