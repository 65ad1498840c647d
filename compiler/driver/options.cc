#include "compiler/driver/options.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/display_width.h"
#include "compiler/driver/option_table.h"
#include "compiler/driver/spec_options.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace sail::driver {
namespace {

constexpr char kOverview[] =
    "sailc: plans distributed training on unequal GPUs\n\n"
    "  A .sail file says what to train, on what, and within which limits. `sailc plan` finds who runs what,\n"
    "  `sailc build` writes what the nodes need, `sailrun` trains.\n\n"
    "  Standard output carries the product of a command, standard error its diagnostics. With --format sarif or "
    "github\n"
    "  the diagnostics are the product of `sailc check` and go to standard output.\n\n"
    "  exit codes: 0 done, 1 errors in the sources, 2 usage, 3 no plan satisfies the limits, 4 fmt --check found a\n"
    "  difference, 6 a plan or bundle does not match its hashes, 7 input or output failed, 70 internal error\n";

CommonOptions Common(const OptionTable& table) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool automatic = llvm::sys::Process::StandardErrHasColors() && (no_color == nullptr || *no_color == '\0');
  return {.format = table.format,
          .color = table.color == Color::kAlways || (table.color == Color::kAuto && automatic),
          .error_limit = table.error_limit};
}

std::vector<std::string> Files(const OptionTable& table) { return {table.files.begin(), table.files.end()}; }

ExitCode UsageError(absl::string_view subcommand, absl::string_view message) {
  const std::string help = subcommand.empty() ? "sailc --help" : absl::StrCat("sailc ", subcommand, " --help");
  llvm::errs() << "sailc: " << Printable(message) << "\nTry: '" << help << "'\n";
  return ExitCode::kUsage;
}

// "check, fmt, … or version"
std::string CommandList(OptionTable& table) {
  std::string list;
  const std::vector<cl::SubCommand*> subcommands = table.subcommands();
  for (size_t i = 0; i < subcommands.size(); ++i) {
    const absl::string_view separator = i == 0 ? "" : i + 1 == subcommands.size() ? " or " : ", ";
    absl::StrAppend(&list, separator, subcommands[i]->getName().str());
  }
  return list;
}

ExitCode NoCommand(OptionTable& table) {
  return UsageError("", absl::StrCat("a command is expected: ", CommandList(table)));
}

// LLVM's parser takes an unknown subcommand for a stray positional argument; say what is meant instead.
std::optional<ExitCode> CheckSubcommandName(OptionTable& table, int argc, const char* const* argv) {
  if (argc < 2) return NoCommand(table);
  const std::string word = argv[1];
  if (absl::StartsWith(word, "-")) return std::nullopt;
  std::vector<std::string> names;
  for (const cl::SubCommand* subcommand : table.subcommands()) {
    if (subcommand->getName() == word) return std::nullopt;
    names.push_back(subcommand->getName().str());
  }
  const std::string nearest = Nearest(word, names);
  return UsageError("", absl::StrCat("unknown command '", word, "'",
                                     nearest.empty() ? "" : absl::StrCat("; did you mean '", nearest, "'?")));
}

bool NeedsPlan(Print print) { return print == Print::kPlan || print == Print::kReport; }

std::variant<Command, ExitCode> MakeCheck(const OptionTable& table) {
  if (table.files.empty()) return UsageError("check", "a .sail file is expected");
  if (NeedsPlan(table.print)) return UsageError("check", "check makes no plan to print; use 'sailc plan'");
  const absl::StatusOr<SpecOptions> spec = ReadSpecOptions(table);
  if (!spec.ok()) return UsageError("check", spec.status().message());
  CommonOptions common = Common(table);
  common.report_to_stdout = common.format == Format::kSarif || common.format == Format::kGithub;
  if (common.report_to_stdout && table.print != Print::kNothing) {
    return UsageError("check", "--print and --format sarif or github both write to standard output");
  }
  return Command(CheckOptions{common, *spec, Files(table), table.print});
}

std::variant<Command, ExitCode> MakeFmt(const OptionTable& table) {
  if (table.files.empty()) return UsageError("fmt", "a .sail file or - is expected");
  if (table.files.size() > 1) {
    for (const std::string& file : table.files) {
      if (file == "-") return UsageError("fmt", "- cannot be combined with files");
    }
  }
  if (table.fmt_diff && !table.fmt_check) return UsageError("fmt", "--diff goes with --check");
  return Command(FmtOptions{Common(table), Files(table), table.fmt_check, table.fmt_diff});
}

std::variant<Command, ExitCode> MakePlan(const OptionTable& table) {
  if (table.file.empty()) return UsageError("plan", "a .sail file is expected");
  if (table.output.empty() && table.print == Print::kNothing && !table.front) {
    return UsageError("plan", "-o OUT.sailplan, --print or --front is expected");
  }
  if (table.output == "-" && table.print != Print::kNothing) {
    return UsageError("plan", "-o - and --print both write to standard output");
  }
  if (table.front && table.format == Format::kJson && (table.output == "-" || table.print != Print::kNothing)) {
    return UsageError("plan", "--front --format json writes to standard output, and so does -o - or --print");
  }
  if (table.front && table.format == Format::kSarif && table.output.empty()) {
    return UsageError("plan", "--front --format sarif says nothing of the front without -o OUT.sailplan");
  }
  const absl::StatusOr<SpecOptions> spec = ReadSpecOptions(table);
  if (!spec.ok()) return UsageError("plan", spec.status().message());
  return Command(PlanOptions{Common(table), *spec, table.file, table.job, table.output, table.print, table.front});
}

std::variant<Command, ExitCode> MakeExpand(const OptionTable& table) {
  if (table.file.empty()) return UsageError("expand", "a .sail file is expected");
  const absl::StatusOr<SpecOptions> spec = ReadSpecOptions(table);
  if (!spec.ok()) return UsageError("expand", spec.status().message());
  if (table.why && table.json) return UsageError("expand", "--json always says where values come from; drop --why");
  return Command(ExpandOptions{Common(table), *spec, table.file, table.why, table.json});
}

std::variant<Command, ExitCode> MakeSimulate(const OptionTable& table) {
  if (table.plan_file.empty()) return UsageError("simulate", "a .sailplan file is expected");
  if (table.trace == "-" && table.format == Format::kJson) {
    return UsageError("simulate", "--trace - and --format json both write to standard output");
  }
  return Command(SimulateOptions{Common(table), table.plan_file, table.trace});
}

std::variant<Command, ExitCode> MakeReplan(const OptionTable& table) {
  if (table.plan_file.empty()) return UsageError("replan", "a .sailplan file is expected");
  if (table.now.empty()) return UsageError("replan", "--now STATE.json is expected");
  if (table.output == "-" && table.format == Format::kJson) {
    return UsageError("replan", "-o - and --format json both write to standard output");
  }
  return Command(ReplanOptions{Common(table), table.plan_file, table.now, table.output});
}

std::variant<Command, ExitCode> MakeReport(const OptionTable& table) {
  if (table.plan_file.empty()) return UsageError("report", "a .sailplan file is expected");
  if (table.output.empty()) return UsageError("report", "-o OUT.html is expected");
  return Command(ReportOptions{Common(table), table.plan_file, table.output});
}

std::variant<Command, ExitCode> MakeBuild(const OptionTable& table) {
  if (table.plan_file.empty()) return UsageError("build", "a .sailplan file is expected");
  if (table.output.empty() || table.output == "-") return UsageError("build", "-o DIR is expected");
  return Command(BuildOptions{Common(table), table.plan_file, table.output, table.root, table.fallbacks});
}

std::variant<Command, ExitCode> MakeImport(const OptionTable& table) {
  const bool is_plan = table.import_kind == "plan";
  if (!is_plan && table.import_kind != "profile")
    return UsageError("import", "what to import is expected: profile or plan");
  if (table.import_source.empty()) {
    return UsageError("import", is_plan ? "the published plan file is expected"
                                        : "the directory of the published profile, or the file of links, is expected");
  }
  if (table.output.empty()) return UsageError("import", "-o OUT is expected");
  if (is_plan && table.spec_file.empty()) return UsageError("import", "a plan needs --spec FILE.sail");
  const bool names_layers = !(table.model_name.empty() && table.gpu_name.empty());
  const bool names_link = !(table.link_from.empty() && table.link_to.empty());
  if (is_plan && (names_layers || names_link)) {
    return UsageError("import", "a plan takes no --model, --gpu, --from and --to");
  }
  const bool is_complete = names_link ? !(table.link_from.empty() || table.link_to.empty())
                                      : !(table.model_name.empty() || table.gpu_name.empty());
  if (!is_plan && (!is_complete || (names_layers && names_link))) {
    return UsageError("import", "a profile needs --model and --gpu, that of a link --from and --to");
  }
  if (!is_plan && !(table.spec_file.empty() && table.job.empty())) {
    return UsageError("import", "a profile takes no --spec and no -j");
  }
  return Command(ImportOptions{Common(table), is_plan, table.import_source, table.output, table.model_name,
                               table.gpu_name, table.link_from, table.link_to, table.spec_file, table.job});
}

std::variant<Command, ExitCode> MakeExplain(const OptionTable& table) {
  const bool has_wish = table.why_not.getNumOccurrences() > 0;
  const std::optional<DiagnosticCode> code = ParseCode(table.code);
  if (has_wish && (code.has_value() || table.code.empty())) return UsageError("explain", "--why-not goes with a plan");
  if (code.has_value() || table.code.empty()) return Command(ExplainOptions{.code = code});
  // A word without a dot or a slash is a misspelt code.
  if (table.code.find_first_of("./") == std::string::npos) return UsageError("explain", UnknownCodeMessage(table.code));
  if (has_wish && table.why_not.empty()) return UsageError("explain", "--why-not is given no value");
  return Command(ExplainOptions{.plan = table.code, .why_not = table.why_not});
}

std::variant<Command, ExitCode> MakeCompletions(const OptionTable& table) {
  if (table.shell == "bash") return Command(CompletionsOptions{Shell::kBash});
  if (table.shell == "zsh") return Command(CompletionsOptions{Shell::kZsh});
  if (table.shell == "fish") return Command(CompletionsOptions{Shell::kFish});
  return UsageError("completions", table.shell.empty() ? "a shell is expected: bash, zsh or fish"
                                                       : absl::StrCat("unknown shell '", table.shell.getValue(),
                                                                      "'; bash, zsh and fish are known"));
}

// What --help and --version print is lost on a full disk; LLVM would abort. Must run before its stream is destroyed.
void CheckStandardOutput() {
  llvm::outs().flush();
  if (!llvm::outs().has_error()) return;
  llvm::outs().clear_error();
  std::fputs("error: cannot write to standard output\n", stderr);  // LLVM's own stream may be gone already
  std::_Exit(static_cast<int>(ExitCode::kEnvironment));
}

}  // namespace

OptionTable& Options() {
  static OptionTable table;
  return table;
}

std::variant<Command, ExitCode> ParseCommandLine(int argc, const char* const* argv) {
  OptionTable& table = Options();
  llvm::outs();  // constructed before the handler is registered, hence destroyed after it ran
  std::atexit(CheckStandardOutput);
  cl::SetVersionPrinter([](llvm::raw_ostream& out) { out << "sailc " << SAIL_VERSION << "\n"; });
  for (cl::SubCommand* subcommand : table.subcommands()) cl::HideUnrelatedOptions(table.category, *subcommand);
  cl::HideUnrelatedOptions(table.category);
  if (const std::optional<ExitCode> code = CheckSubcommandName(table, argc, argv)) return *code;
  if (!cl::ParseCommandLineOptions(argc, argv, kOverview, &llvm::errs())) return ExitCode::kUsage;

  for (const cl::opt<std::string>* option :
       {&table.job, &table.output, &table.trace, &table.root, &table.params, &table.now, &table.model_name,
        &table.gpu_name, &table.link_from, &table.link_to, &table.spec_file}) {
    if (option->getNumOccurrences() == 0 || !option->empty()) continue;
    return UsageError(
        "", absl::StrCat(option->ArgStr.size() == 1 ? "-" : "--", option->ArgStr.str(), " is given no value"));
  }
  if (table.error_limit < 1) return UsageError("", "--error-limit must be at least 1");
  if (table.check) return MakeCheck(table);
  if (table.fmt) return MakeFmt(table);
  if (table.expand) return MakeExpand(table);
  if (table.plan) return MakePlan(table);
  if (table.simulate) return MakeSimulate(table);
  if (table.replan) return MakeReplan(table);
  if (table.report) return MakeReport(table);
  if (table.build) return MakeBuild(table);
  if (table.import_data) return MakeImport(table);
  if (table.explain) return MakeExplain(table);
  if (table.schema) return Command(SchemaOptions{table.json});
  if (table.lsp) return Command(LspOptions{});
  if (table.completions) return MakeCompletions(table);
  if (table.version) return Command(VersionOptions{table.json});
  return NoCommand(table);
}

}  // namespace sail::driver
