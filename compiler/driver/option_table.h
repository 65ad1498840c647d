// Every option of every subcommand, once, in the terms of LLVM's parser. For options.cc and describe_command_line.cc
// only.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/options.h"
#include "llvm/Support/CommandLine.h"

namespace sail::driver {

enum class Color { kAuto, kAlways, kNever };

namespace cl = llvm::cl;

struct OptionTable {
  cl::OptionCategory category{"Options"};
  cl::SubCommand check{"check", "check .sail files: syntax, names, units, domain rules"};
  cl::SubCommand fmt{"fmt", "rewrite .sail files in the canonical layout"};
  cl::SubCommand plan{"plan", "find the best plan of a job and write it"};
  cl::SubCommand simulate{"simulate", "show time, memory and money of a plan"};
  cl::SubCommand replan{"replan", "plan again after nodes have gone or come, moving little state"};
  cl::SubCommand report{"report", "draw a plan and its forecast as one web page"};
  cl::SubCommand build{"build", "write the launch bundle of a plan"};
  cl::SubCommand expand{"expand", "print a specification with everything in place: loops, bases, overrides, defaults"};
  cl::SubCommand import_data{"import", "read a published profile or plan and write it in our format"};
  cl::SubCommand explain{"explain", "explain an error or warning, or a plan; without either list all codes"};
  cl::SubCommand schema{"schema", "print what the language consists of: blocks, attributes, units, words, codes"};
  cl::SubCommand lsp{"lsp", "serve editors over standard input and output (Language Server Protocol)"};
  cl::SubCommand completions{"completions", "print the completion script of a shell"};
  cl::SubCommand version{"version", "print the version"};

  std::vector<cl::SubCommand*> subcommands() {
    return {&check, &fmt,         &expand,  &plan,   &simulate, &replan,      &report,
            &build, &import_data, &explain, &schema, &lsp,      &completions, &version};
  }

  // What stands without a flag. The description is what kind of thing it is.
  cl::list<std::string> files{cl::Positional, cl::desc("FILE..."), cl::sub(check), cl::sub(fmt), cl::cat(category)};
  cl::opt<std::string> file{cl::Positional, cl::desc("FILE"), cl::sub(plan), cl::sub(expand), cl::cat(category)};
  cl::opt<std::string> plan_file{cl::Positional,  cl::desc("PLAN"), cl::sub(simulate), cl::sub(replan),
                                 cl::sub(report), cl::sub(build),   cl::cat(category)};
  cl::opt<std::string> import_kind{cl::Positional, cl::desc("profile|plan"), cl::sub(import_data), cl::cat(category)};
  cl::opt<std::string> import_source{cl::Positional, cl::desc("PATH"), cl::sub(import_data), cl::cat(category)};
  cl::opt<std::string> code{cl::Positional, cl::desc("[CODE|PLAN]"), cl::sub(explain), cl::cat(category)};
  cl::opt<std::string> shell{cl::Positional, cl::desc("bash|zsh|fish"), cl::sub(completions), cl::cat(category)};

  cl::opt<bool> fmt_check{"check", cl::desc("write nothing; list files that differ and exit with 4"), cl::sub(fmt),
                          cl::cat(category)};
  cl::opt<bool> fmt_diff{"diff", cl::desc("with --check: show the differences as a unified diff"), cl::sub(fmt),
                         cl::cat(category)};
  cl::opt<bool> why{"why", cl::desc("say where each value comes from"), cl::sub(expand), cl::cat(category)};
  cl::opt<bool> json{
      "json", cl::desc("as one JSON document"), cl::sub(expand), cl::sub(schema), cl::sub(version), cl::cat(category)};
  cl::opt<bool> stdio{"stdio", cl::desc("accepted because editors pass it: there is no other way to connect"),
                      cl::sub(lsp), cl::cat(category)};
  cl::opt<std::string> job{"j",
                           cl::desc("the job of the plan; needed when the file has several"),
                           cl::value_desc("JOB"),
                           cl::sub(plan),
                           cl::sub(import_data),
                           cl::cat(category)};
  cl::opt<std::string> model_name{"model", cl::desc("of the profile: the model, as the published files name it"),
                                  cl::value_desc("MODEL"), cl::sub(import_data), cl::cat(category)};
  cl::opt<std::string> gpu_name{"gpu", cl::desc("of the profile: the gpu, as the published files name it"),
                                cl::value_desc("GPU"), cl::sub(import_data), cl::cat(category)};
  cl::opt<std::string> link_from{"from",
                                 cl::desc("of the profile of a link: who sends, as the published files name it"),
                                 cl::value_desc("ZONE/GPU/GPUS"), cl::sub(import_data), cl::cat(category)};
  cl::opt<std::string> link_to{"to", cl::desc("of the profile of a link: who receives"),
                               cl::value_desc("ZONE/GPU/GPUS"), cl::sub(import_data), cl::cat(category)};
  cl::opt<std::string> spec_file{"spec", cl::desc("of the plan: the .sail file with its job"), cl::value_desc("FILE"),
                                 cl::sub(import_data), cl::cat(category)};
  cl::opt<std::string> output{"o",
                              cl::desc("where to write; - is standard output (not for build)"),
                              cl::value_desc("OUT"),
                              cl::sub(plan),
                              cl::sub(replan),
                              cl::sub(report),
                              cl::sub(import_data),
                              cl::sub(build),
                              cl::cat(category)};
  cl::opt<bool> front{"front", cl::desc("list the plans between the fastest and the cheapest, too"), cl::sub(plan),
                      cl::cat(category)};
  cl::opt<std::string> why_not{"why-not", cl::desc("of a plan: what fulfilling a wish would cost: \"pool NAME used\""),
                               cl::value_desc("WISH"), cl::sub(explain), cl::cat(category)};
  cl::opt<std::string> now{"now", cl::desc("which nodes there are now (docs/replan.md)"), cl::value_desc("STATE"),
                           cl::sub(replan), cl::cat(category)};
  cl::opt<bool> fallbacks{"fallbacks", cl::desc("also plans for the loss of any one node and any one zone"),
                          cl::sub(build), cl::cat(category)};
  cl::opt<std::string> trace{
      "trace", cl::desc("write the timeline there, for Perfetto and chrome://tracing; - is standard output"),
      cl::value_desc("OUT"), cl::sub(simulate), cl::cat(category)};
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

  cl::list<std::string> definitions{"D",
                                    cl::desc("give a param of the file a value; may be repeated"),
                                    cl::value_desc("name=value"),
                                    cl::Prefix,
                                    cl::sub(check),
                                    cl::sub(plan),
                                    cl::sub(expand),
                                    cl::cat(category)};
  cl::opt<std::string> params{"params",
                              cl::desc("give params values from a file of assignments"),
                              cl::value_desc("FILE"),
                              cl::sub(check),
                              cl::sub(plan),
                              cl::sub(expand),
                              cl::cat(category)};
  cl::opt<std::string> today{"today",
                             cl::desc("the day, YYYY-MM-DD, for warnings about old prices (default: none)"),
                             cl::value_desc("DATE"),
                             cl::sub(check),
                             cl::sub(plan),
                             cl::sub(expand),
                             cl::cat(category)};
  cl::list<std::string> deny{"deny",
                             cl::desc("make a warning an error, W: every warning; may be repeated"),
                             cl::value_desc("W|WARNING"),
                             cl::sub(check),
                             cl::sub(plan),
                             cl::sub(expand),
                             cl::cat(category)};
  cl::list<std::string> allow{"allow",
                              cl::desc("do not show a warning (0407 or SAIL0407); may be repeated"),
                              cl::value_desc("WARNING"),
                              cl::sub(check),
                              cl::sub(plan),
                              cl::sub(expand),
                              cl::cat(category)};

  cl::opt<Format> format{
      "format",
      cl::desc("format of diagnostics (and of the output of simulate, replan and plan --front):"),
      cl::values(clEnumValN(Format::kText, "text", "for people (default)"),
                 clEnumValN(Format::kShort, "short", "file:line:column: error: message [code]"),
                 clEnumValN(Format::kJson, "json", "one object per line, a summary at the end"),
                 clEnumValN(Format::kSarif, "sarif", "one SARIF 2.1.0 log; check writes it to standard output"),
                 clEnumValN(Format::kGithub, "github", "workflow commands of GitHub; check: to standard output")),
      cl::init(Format::kText),
      cl::sub(check),
      cl::sub(fmt),
      cl::sub(plan),
      cl::sub(simulate),
      cl::sub(replan),
      cl::sub(report),
      cl::sub(build),
      cl::sub(import_data),
      cl::sub(expand),
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
                       cl::sub(report),
                       cl::sub(build),
                       cl::sub(import_data),
                       cl::sub(expand),
                       cl::cat(category)};
  cl::opt<int> error_limit{"error-limit",       cl::desc("errors shown per file (default 20; sarif has all)"),
                           cl::value_desc("N"), cl::init(20),
                           cl::sub(check),      cl::sub(fmt),
                           cl::sub(plan),       cl::sub(expand),
                           cl::cat(category)};
};

// The one table. LLVM keeps pointers to every option until the process ends; nothing is registered before the first
// call.
OptionTable& Options();

}  // namespace sail::driver
