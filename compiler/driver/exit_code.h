// What `sailc` tells a script. 0 and 1 keep their Unix meaning; each decision a pipeline can act on has its own number.
#pragma once

namespace sail::driver {

enum class ExitCode {
  kDone = 0,
  kSourceErrors = 1,   // the sources are wrong; retrying does not help
  kUsage = 2,          // the command line is wrong
  kInfeasible = 3,     // no plan satisfies the limits
  kDifference = 4,     // `fmt --check` found a file to format
  kStale = 6,          // a plan or bundle does not match its hashes; make it again
  kEnvironment = 7,    // a file or the system failed; retrying may help
  kInternalError = 70  // a bug of ours (SAIL_CHECK ends the process with this number)
};

}  // namespace sail::driver
