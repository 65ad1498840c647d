// The command line as plain values. options.cc is the only file that knows how it is parsed.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/driver/exit_code.h"
#include "compiler/driver/severity_policy.h"
#include "compiler/passes/spec_inputs.h"

namespace sail::driver {

enum class Format { kText, kShort, kJson, kSarif, kGithub };
enum class Print { kNothing, kAst, kJob, kCluster, kModel, kPlan, kReport };
enum class Shell { kBash, kZsh, kFish };

struct CommonOptions {
  Format format = Format::kText;
  bool color = false;             // decided: --color, NO_COLOR and whether stderr is a terminal
  int error_limit = 20;           // per file
  bool report_to_stdout = false;  // the SARIF log or the annotations are the product
};

// Of the commands that compile a specification.
struct SpecOptions {
  SeverityPolicy policy;
  SpecInputs inputs;
};

struct CheckOptions {
  CommonOptions common;
  SpecOptions spec;
  std::vector<std::string> files;
  Print print = Print::kNothing;
};
struct FmtOptions {
  CommonOptions common;
  std::vector<std::string> files;  // or one "-": standard input to standard output
  bool check = false;              // write nothing, list the files that differ
  bool diff = false;               // with `check`: how they differ, as a unified diff
};
struct PlanOptions {
  CommonOptions common;
  SpecOptions spec;
  std::string file;
  std::string job;     // empty: the only job of the file
  std::string output;  // "-": standard output; empty only with --print or `front`
  Print print = Print::kNothing;
  bool front = false;  // also the plans between the fastest and the cheapest
};
struct SimulateOptions {
  CommonOptions common;
  std::string plan;
  std::string trace;  // where to write the timeline; "-": standard output; empty: nowhere
};
struct ReplanOptions {
  CommonOptions common;
  std::string plan;
  std::string state;   // which nodes there are now (read_state.h)
  std::string output;  // "-": standard output; empty: nowhere
};
struct ReportOptions {
  CommonOptions common;
  std::string plan;
  std::string output;  // "-": standard output
};
struct BuildOptions {
  CommonOptions common;
  std::string plan;
  std::string output;
  std::string root;        // what relative data paths are relative to; default: the plan's directory
  bool fallbacks = false;  // also plans for the loss of any node and any zone
};
struct ImportOptions {
  CommonOptions common;
  bool is_plan = false;
  std::string source;  // the directory of the published profile; the file of the published plan or links
  std::string output;  // "-": standard output
  std::string model;   // of a profile, as the published files name it
  std::string gpu;     // the same
  std::string from;    // of the profile of a link: its ends; empty for other profiles
  std::string to;
  std::string spec;  // of a plan: the .sail file
  std::string job;   // empty: its only job
};
struct SchemaOptions {
  bool json = false;
};
struct LspOptions {};

struct ExplainOptions {
  std::optional<DiagnosticCode> code;
  std::string plan;     // with neither: the table of all codes
  std::string why_not;  // a wish about the plan (wish.h); empty: why it is as it is
};
struct CompletionsOptions {
  Shell shell = Shell::kBash;
};
struct ExpandOptions {
  CommonOptions common;
  SpecOptions spec;
  std::string file;
  bool why = false;
  bool json = false;
};
struct VersionOptions {
  bool json = false;
};

using Command = std::variant<CheckOptions, FmtOptions, ExpandOptions, PlanOptions, SimulateOptions, ReplanOptions,
                             ReportOptions, BuildOptions, ImportOptions, ExplainOptions, SchemaOptions, LspOptions,
                             CompletionsOptions, VersionOptions>;

// The command, or the exit code when there is nothing left to do: kUsage after a message on standard error.
// `--help` and `--version` print to standard output and end the process with 0, or 7 if that fails (LLVM's parser
// does).
std::variant<Command, ExitCode> ParseCommandLine(int argc, const char* const* argv);

// The command line described by itself: what shell completion is made from.
struct OptionDescription {
  std::string flag;  // "--format", "-o"; empty: what stands without a flag
  std::string help;
  std::string value;                 // "FILE", "DIR", "PLAN", "CODE", "WARNING", "N", …; empty: takes none
  std::vector<std::string> choices;  // the words that `value` may be, if it is one of few
  bool repeats = false;
};
struct CommandDescription {
  std::string name;
  std::string help;
  std::vector<OptionDescription> options;  // by flag
};
std::vector<CommandDescription> DescribeCommandLine();

}  // namespace sail::driver
