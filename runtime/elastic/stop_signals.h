// SIGINT, SIGTERM and SIGHUP as a value to look at. One per process.
#pragma once

namespace sail::rt {

// From now on these signals do not end the process at once: it has 5 s to set a later deadline (watchdog.h), so that
// one that hangs in a call ends all the same. Also SIGPIPE is ignored: writes report it.
void CatchStopSignals();
// The first stop signal received so far, or 0.
int StopSignal();

}  // namespace sail::rt
