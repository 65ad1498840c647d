// The command line of sailrun.
#pragma once

#include "runtime/elastic/worker.h"

namespace sail::rt {

// main() of sailrun; `train` is what a worker runs. Returns the exit code.
int SailrunMain(int argc, char** argv, const TrainFunction& train);

}  // namespace sail::rt
