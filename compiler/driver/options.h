// The command line as plain values. options.cc is the only file that knows how it is parsed.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/driver/exit_code.h"

namespace sail::driver {

enum class Format { kText, kShort, kJson };
enum class Print { kNothing, kAst, kJob, kCluster, kModel, kPlan, kReport };

struct CommonOptions {
  Format format = Format::kText;
  bool color = false;    // decided: --color, NO_COLOR and whether stderr is a terminal
  int error_limit = 20;  // per file
};

struct CheckOptions {
  CommonOptions common;
  std::vector<std::string> files;
  Print print = Print::kNothing;
};
struct FmtOptions {
  CommonOptions common;
  std::vector<std::string> files;  // or one "-": standard input to standard output
  bool check = false;              // write nothing, list the files that differ
};
struct PlanOptions {
  CommonOptions common;
  std::string file;
  std::string job;     // empty: the only job of the file
  std::string output;  // "-": standard output; empty only with --print
  Print print = Print::kNothing;
};
struct SimulateOptions {
  CommonOptions common;
  std::string plan;
};
struct BuildOptions {
  CommonOptions common;
  std::string plan;
  std::string output;
  std::string root;  // what relative data paths are relative to; default: the plan's directory
};

using Command = std::variant<CheckOptions, FmtOptions, PlanOptions, SimulateOptions, BuildOptions>;

// The command, or the exit code when there is nothing left to do: kUsage after a message on standard error.
// `--help` and `--version` print to standard output and end the process with 0 (LLVM's parser does).
std::variant<Command, ExitCode> ParseCommandLine(int argc, const char* const* argv);

}  // namespace sail::driver
