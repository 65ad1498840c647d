#include "runtime/elastic/command_line.h"

#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "runtime/elastic/agent.h"
#include "runtime/elastic/control_store.h"
#include "runtime/elastic/controller.h"
#include "runtime/elastic/exit_code.h"
#include "runtime/elastic/run_directory.h"
#include "runtime/elastic/standard_output.h"

namespace sail::rt {
namespace {

constexpr char kHelp[] =
    R"(usage: sailrun BUNDLE [--metrics FILE] [--steps N] [--port PORT] [-q]
       sailrun controller BUNDLE [--metrics FILE] [--steps N] [--port PORT] [-q]
       sailrun agent BUNDLE --node NAME --store HOST:PORT [--logs DIR]
       sailrun worker BUNDLE --rank N --store HOST:PORT
       sailrun profile --help

Trains what a bundle describes. The first form runs every node of the plan on this machine. `controller` waits
for agents that nodes/<node>/launch.sh starts on the machines of the plan; `agent` starts one worker per GPU.
`profile` measures this machine, so that forecasts rest on times of its own.

  --metrics FILE     metrics of every step, one JSON object a line (default: BUNDLE.run/metrics.jsonl);
                     the logs of agents and ranks lie in the same directory, which must exist (BUNDLE.run is
                     created) and which one run at a time can use
  --steps N          train N steps instead of the job's number
  --port PORT        port of the store (default: any free one)
  --node NAME        the node to run, as in the bundle
  --store HOST:PORT  the store of the controller
  --logs DIR         directory of the ranks' logs (default: BUNDLE.run)
  --rank N           the rank to run
  -q                 print the summary only
  --help             this text

exit codes: 0 done, 2 usage, 6 bundle corrupt or of another version, 7 a rank failed or files, ports or processes
did, 70 internal error, 129, 130 and 143 stopped by SIGHUP, SIGINT and SIGTERM. A run whose standard output cannot
be written trains to its end, for the metrics are in their file, and then exits with 7.
)";

const std::set<std::string> kControllerFlags = {"--metrics", "--steps", "--port", "-q"};
const std::map<std::string, std::set<std::string>> kFlagsOfCommand = {
    {"", kControllerFlags},
    {"controller", kControllerFlags},
    {"agent", {"--node", "--store", "--logs"}},
    {"worker", {"--rank", "--store"}},
};

struct Arguments {
  std::string command;  // "" for the first form
  std::string bundle;
  std::map<std::string, std::string> flags;
};

absl::StatusOr<Arguments> Split(const std::vector<std::string>& words) {
  Arguments arguments;
  size_t i = 0;
  if (!words.empty() && !words[0].empty() && kFlagsOfCommand.contains(words[0])) arguments.command = words[i++];
  const std::set<std::string>& known = kFlagsOfCommand.at(arguments.command);
  for (; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.empty() || word[0] != '-') {
      if (!arguments.bundle.empty())
        return absl::InvalidArgumentError(absl::StrCat("unexpected argument '", word, "'"));
      arguments.bundle = word;
      continue;
    }
    if (!known.contains(word)) return absl::InvalidArgumentError(absl::StrCat("unknown option '", word, "'"));
    const bool takes_value = word != "-q";
    if (takes_value && i + 1 == words.size()) return absl::InvalidArgumentError(absl::StrCat(word, " needs a value"));
    if (!arguments.flags.emplace(word, takes_value ? words[i + 1] : "").second) {
      return absl::InvalidArgumentError(absl::StrCat(word, " is given twice"));
    }
    if (takes_value) ++i;
  }
  if (arguments.bundle.empty()) return absl::InvalidArgumentError("a bundle directory is missing");
  return arguments;
}

absl::StatusOr<std::string> Required(const Arguments& arguments, const std::string& flag) {
  const auto it = arguments.flags.find(flag);
  if (it == arguments.flags.end()) return absl::InvalidArgumentError(absl::StrCat(flag, " is missing"));
  return it->second;
}

std::string Optional(const Arguments& arguments, const std::string& flag, std::string fallback) {
  const auto it = arguments.flags.find(flag);
  return it == arguments.flags.end() ? std::move(fallback) : it->second;
}

// The flag's number, `fallback` if the flag is not given.
absl::StatusOr<int64_t> Number(const Arguments& arguments, const std::string& flag, int64_t fallback, int64_t least,
                               int64_t most) {
  const auto it = arguments.flags.find(flag);
  if (it == arguments.flags.end()) return fallback;
  int64_t value = 0;
  if (!absl::SimpleAtoi(it->second, &value) || value < least || value > most) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, ": '", it->second, "' is not a number from ", least, " to ", most));
  }
  return value;
}

constexpr int64_t kMaxSteps = int64_t{1} << 53;

absl::StatusOr<int> Dispatch(const Arguments& arguments, const TrainFunction& train) {
  if (arguments.command == "agent") {
    AgentOptions options{.bundle = arguments.bundle, .node = "", .store = {}, .log_directory = ""};
    SAIL_ASSIGN_OR_RETURN(options.node, Required(arguments, "--node"));
    SAIL_ASSIGN_OR_RETURN(const std::string store, Required(arguments, "--store"));
    SAIL_ASSIGN_OR_RETURN(options.store, ParseStoreAddress(store));
    options.log_directory = Optional(arguments, "--logs", RunDirectory(arguments.bundle));
    return RunAgent(options);
  }
  if (arguments.command == "worker") {
    WorkerOptions options{.bundle = arguments.bundle, .rank = ir::Rank(0), .store = {}};
    SAIL_RETURN_IF_ERROR(Required(arguments, "--rank").status());
    SAIL_ASSIGN_OR_RETURN(const int64_t rank, Number(arguments, "--rank", 0, 0, 1 << 20));
    options.rank = ir::Rank(static_cast<int>(rank));
    SAIL_ASSIGN_OR_RETURN(const std::string store, Required(arguments, "--store"));
    SAIL_ASSIGN_OR_RETURN(options.store, ParseStoreAddress(store));
    return RunWorker(options, train);
  }
  SAIL_ASSIGN_OR_RETURN(const int64_t steps, Number(arguments, "--steps", 0, 1, kMaxSteps));
  SAIL_ASSIGN_OR_RETURN(const int64_t port, Number(arguments, "--port", 0, 1, 65535));
  return RunController({.bundle = arguments.bundle,
                        .metrics = Optional(arguments, "--metrics", RunDirectory(arguments.bundle) + "/metrics.jsonl"),
                        .steps = steps,
                        .port = static_cast<int>(port),
                        .verbosity = arguments.flags.contains("-q") ? Verbosity::kSummaryOnly : Verbosity::kProgress,
                        .agents = arguments.command == "controller" ? AgentStart::kElsewhere : AgentStart::kHere});
}

}  // namespace

int SailrunMain(int argc, char** argv, const TrainFunction& train) {
  OccupyStandardDescriptors();
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (const std::string& word : words) {
    if (word == "--help" || word == "-h") {
      const absl::Status printed = WriteStandardOutput(kHelp);
      if (printed.ok()) return kExitDone;
      std::fprintf(stderr, "sailrun: error: %s\n", std::string(printed.message()).c_str());
      return kExitEnvironment;
    }
  }
  const absl::StatusOr<Arguments> arguments = Split(words);
  const absl::StatusOr<int> exit_code = arguments.ok() ? Dispatch(*arguments, train) : arguments.status();
  if (exit_code.ok()) return *exit_code;
  std::fprintf(stderr, "sailrun: error: %s; see sailrun --help\n", std::string(exit_code.status().message()).c_str());
  return kExitUsage;
}

}  // namespace sail::rt
