#include "compiler/driver/options.h"

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace sail::driver {
namespace cl = llvm::cl;
namespace {

enum class Color { kAuto, kAlways, kNever };

constexpr char kVersion[] = SAIL_VERSION;
constexpr char kOverview[] =
    "sailc: plans distributed training on unequal GPUs\n\n"
    "  A .sail file says what to train, on what, and within which limits. `sailc plan` finds who runs what,\n"
    "  `sailc build` writes what the nodes need, `sailrun` trains.\n\n"
    "  exit codes: 0 done, 1 errors in the sources, 2 usage, 3 no plan satisfies the limits, 4 fmt --check found a\n"
    "  difference, 6 a plan or bundle does not match its hashes, 7 input or output failed, 70 internal error\n";

// All options of all subcommands. Lives in one function: nothing is registered before main.
struct Parser {
  cl::OptionCategory category{"Options"};
  cl::SubCommand check{"check", "check .sail files: syntax, names, units, domain rules"};
  cl::SubCommand fmt{"fmt", "rewrite .sail files in the canonical layout"};
  cl::SubCommand plan{"plan", "find the best plan of a job and write it"};
  cl::SubCommand simulate{"simulate", "show time, memory and money of a plan"};
  cl::SubCommand build{"build", "write the launch bundle of a plan"};

  cl::list<std::string> files{cl::Positional, cl::desc("FILE..."), cl::sub(check), cl::sub(fmt), cl::cat(category)};
  cl::opt<std::string> file{cl::Positional, cl::desc("FILE"), cl::sub(plan), cl::cat(category)};
  cl::opt<std::string> plan_file{cl::Positional, cl::desc("PLAN"), cl::sub(simulate), cl::sub(build),
                                 cl::cat(category)};

  cl::opt<bool> fmt_check{"check", cl::desc("write nothing; list files that differ and exit with 4"), cl::sub(fmt),
                          cl::cat(category)};
  cl::opt<std::string> job{"j", cl::desc("the job to plan; needed when the file has several"), cl::value_desc("JOB"),
                           cl::sub(plan), cl::cat(category)};
  cl::opt<std::string> output{"o",
                              cl::desc("where to write; - is standard output (plan only)"),
                              cl::value_desc("OUT"),
                              cl::sub(plan),
                              cl::sub(build),
                              cl::cat(category)};
  cl::opt<std::string> root{"root", cl::desc("directory of relative data paths (default: that of the plan)"),
                            cl::value_desc("DIR"), cl::sub(build), cl::cat(category)};
  cl::opt<Print> print{"print",
                       cl::desc("print an intermediate value to standard output:"),
                       cl::values(clEnumValN(Print::kAst, "ast", "the tree of the file (check parses only)"),
                                  clEnumValN(Print::kJob, "job", "checked jobs"),
                                  clEnumValN(Print::kCluster, "cluster", "their pools, machines and links"),
                                  clEnumValN(Print::kModel, "model", "their models"),
                                  clEnumValN(Print::kPlan, "plan", "the plan (plan only)"),
                                  clEnumValN(Print::kReport, "report", "what is predicted of it (plan only)")),
                       cl::init(Print::kNothing),
                       cl::sub(check),
                       cl::sub(plan),
                       cl::cat(category)};

  cl::opt<Format> format{"format",
                         cl::desc("format of diagnostics (and of the output of simulate):"),
                         cl::values(clEnumValN(Format::kText, "text", "for people (default)"),
                                    clEnumValN(Format::kShort, "short", "file:line:column: error: message [code]"),
                                    clEnumValN(Format::kJson, "json", "one object per line, a summary at the end")),
                         cl::init(Format::kText),
                         cl::sub(check),
                         cl::sub(fmt),
                         cl::sub(plan),
                         cl::sub(simulate),
                         cl::sub(build),
                         cl::cat(category)};
  cl::opt<Color> color{"color",
                       cl::desc("colour diagnostics:"),
                       cl::values(clEnumValN(Color::kAuto, "auto", "on a terminal, unless NO_COLOR is set (default)"),
                                  clEnumValN(Color::kAlways, "always", ""), clEnumValN(Color::kNever, "never", "")),
                       cl::init(Color::kAuto),
                       cl::sub(check),
                       cl::sub(fmt),
                       cl::sub(plan),
                       cl::sub(simulate),
                       cl::sub(build),
                       cl::cat(category)};
  cl::opt<int> error_limit{"error-limit",       cl::desc("errors shown per file (default 20)"),
                           cl::value_desc("N"), cl::init(20),
                           cl::sub(check),      cl::sub(fmt),
                           cl::sub(plan),       cl::cat(category)};

  std::vector<cl::SubCommand*> subcommands() { return {&check, &fmt, &plan, &simulate, &build}; }

  std::vector<std::string> Files() const { return {files.begin(), files.end()}; }

  CommonOptions Common() const {
    const char* no_color = std::getenv("NO_COLOR");
    const bool automatic = llvm::sys::Process::StandardErrHasColors() && (no_color == nullptr || *no_color == '\0');
    return {.format = format,
            .color = color == Color::kAlways || (color == Color::kAuto && automatic),
            .error_limit = error_limit};
  }
};

ExitCode UsageError(absl::string_view subcommand, absl::string_view message) {
  const std::string help = subcommand.empty() ? "sailc --help" : absl::StrCat("sailc ", subcommand, " --help");
  llvm::errs() << "sailc: " << absl::StrCat(message) << "\nTry: '" << help << "'\n";
  return ExitCode::kUsage;
}

// LLVM's parser takes an unknown subcommand for a stray positional argument; say what is meant instead.
std::optional<ExitCode> CheckSubcommandName(Parser& parser, int argc, const char* const* argv) {
  if (argc < 2) return UsageError("", "a command is expected: check, fmt, plan, simulate or build");
  const std::string word = argv[1];
  if (absl::StartsWith(word, "-")) return std::nullopt;
  std::vector<std::string> names;
  for (const cl::SubCommand* subcommand : parser.subcommands()) {
    if (subcommand->getName() == word) return std::nullopt;
    names.push_back(subcommand->getName().str());
  }
  const std::string nearest = Nearest(word, names);
  return UsageError("", absl::StrCat("unknown command '", word, "'",
                                     nearest.empty() ? "" : absl::StrCat("; did you mean '", nearest, "'?")));
}

bool NeedsPlan(Print print) { return print == Print::kPlan || print == Print::kReport; }

std::variant<Command, ExitCode> MakeCheck(const Parser& parser) {
  if (parser.files.empty()) return UsageError("check", "a .sail file is expected");
  if (NeedsPlan(parser.print)) return UsageError("check", "check makes no plan to print; use 'sailc plan'");
  return Command(CheckOptions{parser.Common(), parser.Files(), parser.print});
}

std::variant<Command, ExitCode> MakeFmt(const Parser& parser) {
  if (parser.files.empty()) return UsageError("fmt", "a .sail file or - is expected");
  if (parser.files.size() > 1) {
    for (const std::string& file : parser.files) {
      if (file == "-") return UsageError("fmt", "- cannot be combined with files");
    }
  }
  return Command(FmtOptions{parser.Common(), parser.Files(), parser.fmt_check});
}

std::variant<Command, ExitCode> MakePlan(const Parser& parser) {
  if (parser.file.empty()) return UsageError("plan", "a .sail file is expected");
  if (parser.output.empty() && parser.print == Print::kNothing) {
    return UsageError("plan", "-o OUT.sailplan or --print is expected");
  }
  if (parser.output == "-" && parser.print != Print::kNothing) {
    return UsageError("plan", "-o - and --print both write to standard output");
  }
  return Command(PlanOptions{parser.Common(), parser.file, parser.job, parser.output, parser.print});
}

std::variant<Command, ExitCode> MakeSimulate(const Parser& parser) {
  if (parser.plan_file.empty()) return UsageError("simulate", "a .sailplan file is expected");
  return Command(SimulateOptions{parser.Common(), parser.plan_file});
}

std::variant<Command, ExitCode> MakeBuild(const Parser& parser) {
  if (parser.plan_file.empty()) return UsageError("build", "a .sailplan file is expected");
  if (parser.output.empty() || parser.output == "-") return UsageError("build", "-o DIR is expected");
  return Command(BuildOptions{parser.Common(), parser.plan_file, parser.output, parser.root});
}

}  // namespace

std::variant<Command, ExitCode> ParseCommandLine(int argc, const char* const* argv) {
  // Static, because LLVM keeps pointers to every option until the process ends.
  static Parser parser;
  cl::SetVersionPrinter([](llvm::raw_ostream& out) { out << "sailc " << kVersion << "\n"; });
  for (cl::SubCommand* subcommand : parser.subcommands()) cl::HideUnrelatedOptions(parser.category, *subcommand);
  cl::HideUnrelatedOptions(parser.category);
  if (const std::optional<ExitCode> code = CheckSubcommandName(parser, argc, argv)) return *code;
  if (!cl::ParseCommandLineOptions(argc, argv, kOverview, &llvm::errs())) return ExitCode::kUsage;

  if (parser.error_limit < 1) return UsageError("", "--error-limit must be at least 1");
  if (parser.check) return MakeCheck(parser);
  if (parser.fmt) return MakeFmt(parser);
  if (parser.plan) return MakePlan(parser);
  if (parser.simulate) return MakeSimulate(parser);
  if (parser.build) return MakeBuild(parser);
  return UsageError("", "a command is expected: check, fmt, plan, simulate or build");
}

}  // namespace sail::driver
