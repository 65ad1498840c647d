#include "runtime/profile/command_line.h"

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/base/status_macros.h"
#include "runtime/elastic/control_store.h"
#include "runtime/elastic/exit_code.h"
#include "runtime/elastic/standard_output.h"
#include "runtime/profile/profile_rank.h"
#include "runtime/profile/profiler.h"

namespace sail::rt {
namespace {

constexpr char kHelp[] =
    R"(usage: sailrun profile PLAN -o DIR [--gpu NAME[,NAME...]] [--ranks N]
       sailrun profile --link [-o DIR]

Measures this machine with the code that trains. The first form takes a plan file of `sailc plan` and measures each
layer kind of its model at every tensor degree and micro-batch that the job allows: forward, backward and
optimizer step. DIR/NAME.json is a profile for the model's `profile { NAME = "DIR/NAME.json" }`; with it
`sailc plan` predicts from measured times. The second form measures what two ranks of this machine need to send a
tensor and to sum one, and prints the latency and bandwidth of a `link` rule that says so.

  -o DIR           directory for NAME.json or link.json; created if it is missing
  --gpu NAME,...   the gpus of the plan that this machine is (default: the only one that the plan's pools have)
  --ranks N        ranks that compute at the same time, one core each (default: as many as the plan has), because
                   ranks share the memory of a machine: measure under the load that you will train under
  --link           measure a link instead of layers
  --help           this text

exit codes: 0 done, 2 usage or a gpu that the plan lacks, 6 plan corrupt or not trainable, 7 files, ports or
processes failed, 129, 130 and 143 stopped by SIGHUP, SIGINT and SIGTERM. Files are written at the end, in one piece.
)";

constexpr char kCommand[] = "profile";
constexpr char kRankCommand[] = "profile-rank";
constexpr int kMostRanks = 256;

struct Arguments {
  std::vector<std::string> operands;
  std::map<std::string, std::string> flags;
  bool Has(const std::string& flag) const { return flags.contains(flag); }
  std::string Get(const std::string& flag) const { return Has(flag) ? flags.at(flag) : ""; }
};

absl::StatusOr<Arguments> Split(const std::vector<std::string>& words, const std::set<std::string>& known) {
  Arguments arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.empty() || word[0] != '-') {
      arguments.operands.push_back(word);
      continue;
    }
    if (!known.contains(word)) return absl::InvalidArgumentError(absl::StrCat("unknown option '", word, "'"));
    const bool takes_value = word != "--link";
    if (takes_value && i + 1 == words.size()) return absl::InvalidArgumentError(absl::StrCat(word, " needs a value"));
    if (!arguments.flags.emplace(word, takes_value ? words[i + 1] : "").second) {
      return absl::InvalidArgumentError(absl::StrCat(word, " is given twice"));
    }
    if (takes_value) ++i;
  }
  return arguments;
}

absl::StatusOr<int> Number(const Arguments& arguments, const std::string& flag, int fallback, int least) {
  if (!arguments.Has(flag)) return fallback;
  int value = 0;
  if (!absl::SimpleAtoi(arguments.Get(flag), &value) || value < least || value > kMostRanks) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, ": '", arguments.Get(flag), "' is not a number from ", least, " to ", kMostRanks));
  }
  return value;
}

absl::StatusOr<int> RunRank(const std::vector<std::string>& words) {
  SAIL_ASSIGN_OR_RETURN(const Arguments arguments, Split(words, {"--rank", "--ranks", "--store", "--plan", "--gpu"}));
  ProfileRankOptions options{.self = {}, .plan = arguments.Get("--plan"), .gpus = arguments.Get("--gpu")};
  SAIL_ASSIGN_OR_RETURN(const int rank, Number(arguments, "--rank", 0, 0));
  options.self.rank = ir::Rank(rank);
  SAIL_ASSIGN_OR_RETURN(options.self.ranks, Number(arguments, "--ranks", 1, 1));
  SAIL_ASSIGN_OR_RETURN(options.self.store, ParseStoreAddress(arguments.Get("--store")));
  return RunProfileRank(options);
}

absl::StatusOr<int> Run(const std::vector<std::string>& words) {
  SAIL_ASSIGN_OR_RETURN(const Arguments arguments, Split(words, {"-o", "--gpu", "--ranks", "--link"}));
  if (arguments.Has("--link")) {
    if (!arguments.operands.empty() || arguments.Has("--gpu") || arguments.Has("--ranks")) {
      return absl::InvalidArgumentError("--link takes no plan, gpu or ranks");
    }
    return RunLinkProfile(arguments.Get("-o"));
  }
  if (arguments.operands.empty()) return absl::InvalidArgumentError("a plan file is missing");
  if (arguments.operands.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("unexpected argument '", arguments.operands[1], "'"));
  }
  if (arguments.Get("-o").empty()) return absl::InvalidArgumentError("-o is missing");
  SAIL_ASSIGN_OR_RETURN(const int ranks, Number(arguments, "--ranks", 0, 1));
  return RunLayerProfile({.plan = arguments.operands[0],
                          .gpus = arguments.Get("--gpu"),
                          .directory = arguments.Get("-o"),
                          .ranks = ranks});
}

}  // namespace

bool IsProfileCommand(int argc, char** argv) {
  return argc > 1 && (absl::string_view(argv[1]) == kCommand || absl::string_view(argv[1]) == kRankCommand);
}

int ProfileMain(int argc, char** argv) {
  OccupyStandardDescriptors();
  const std::vector<std::string> words(argv + 2, argv + argc);
  for (const std::string& word : words) {
    if (word != "--help" && word != "-h") continue;
    const absl::Status printed = WriteStandardOutput(kHelp);
    if (printed.ok()) return kExitDone;
    std::fprintf(stderr, "sailrun: error: %s\n", std::string(printed.message()).c_str());
    return kExitEnvironment;
  }
  const absl::StatusOr<int> exit_code = absl::string_view(argv[1]) == kRankCommand ? RunRank(words) : Run(words);
  if (exit_code.ok()) return *exit_code;
  std::fprintf(stderr, "sailrun: error: %s; see sailrun profile --help\n",
               std::string(exit_code.status().message()).c_str());
  return kExitUsage;
}

}  // namespace sail::rt
