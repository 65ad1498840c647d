#include "compiler/driver/wish.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/names.h"

namespace sail::driver {
namespace {

constexpr char kForms[] =
    "a wish is `pool NAME used`, `pool NAME not used`, `pool NAME >= 2`, `tensor = 4`, `pipeline = 2`, `micro = 1`, "
    "`recompute = full` or `optimizer_sharding = zero1`; several are joined by `and`";

absl::Status Misunderstood(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(what, ": ", kForms));
}

bool IsOperator(char c) { return c == '=' || c == '<' || c == '>'; }

// Words, operators and quoted names; the quotes of a name are dropped.
std::vector<std::string> WordsOf(absl::string_view text) {
  std::vector<std::string> words;
  for (size_t i = 0; i < text.size();) {
    if (absl::ascii_isspace(text[i])) {
      ++i;
      continue;
    }
    const size_t begin = i;
    if (text[i] == '"') {
      const size_t end = std::min(text.find('"', begin + 1), text.size());
      words.emplace_back(text.substr(begin + 1, end - begin - 1));
      i = std::min(end + 1, text.size());
      continue;
    }
    const bool is_operator = IsOperator(text[i]);
    while (i < text.size() && !absl::ascii_isspace(text[i]) && IsOperator(text[i]) == is_operator) ++i;
    words.emplace_back(text.substr(begin, i - begin));
  }
  return words;
}

class WishReader {
 public:
  WishReader(absl::string_view wish, const ir::Problem& problem)
      : words_(WordsOf(wish)), is_closed_(std::count(wish.begin(), wish.end(), '"') % 2 == 0), wished_{problem, {}} {
    wished_.options.least_nodes.assign(problem.cluster.pools.size(), 0);
  }

  absl::StatusOr<WishedProblem> Read() {
    if (words_.empty()) return Misunderstood("the wish is empty");
    if (!is_closed_) return Misunderstood("a quote is not closed");
    do {
      SAIL_RETURN_IF_ERROR(ReadTerm());
    } while (Accept("and"));
    if (next_ < words_.size()) return Misunderstood(absl::StrCat("`", words_[next_], "` is not understood"));
    return std::move(wished_);
  }

 private:
  bool Accept(absl::string_view word) {
    if (next_ == words_.size() || words_[next_] != word) return false;
    ++next_;
    return true;
  }
  std::string Take() { return next_ < words_.size() ? words_[next_++] : ""; }

  absl::Status ReadTerm() {
    ir::Job& job = wished_.problem.job;
    const std::string what = Take();
    if (what == "pool") return ReadPool();
    if (what == "tensor") return ReadNumber(what, job.tensor_degrees);
    if (what == "pipeline") return ReadNumber(what, job.pipeline_depths);
    if (what == "micro") return ReadNumber(what, job.micro_batches);
    if (what == "recompute") return ReadWord(what, ir::kRecomputes, job.recomputes);
    if (what == "optimizer_sharding") return ReadWord(what, ir::kOptimizerShardings, job.optimizer_shardings);
    return Misunderstood(what.empty() ? "the wish ends too early" : absl::StrCat("`", what, "` is not understood"));
  }

  absl::Status ReadPool() {
    const std::string name = Take();
    if (name.empty()) return Misunderstood("`pool` is followed by a name");
    std::vector<ir::Pool>& pools = wished_.problem.cluster.pools;
    const auto pool = std::find_if(pools.begin(), pools.end(), [&](const ir::Pool& p) { return p.name == name; });
    if (pool == pools.end()) {
      std::vector<std::string> names;
      for (const ir::Pool& other : pools) names.push_back(other.name);
      return absl::InvalidArgumentError(
          absl::StrCat("there is no pool `", name, "`; pools: ", absl::StrJoin(names, ", ")));
    }
    int& least = wished_.options.least_nodes[pool - pools.begin()];
    if (Accept("used")) {
      least = std::max(least, 1);
    } else if (Accept("not")) {
      if (!Accept("used")) return Misunderstood("`not` is followed by `used`");
      pool->quota = 0;
    } else {
      const bool at_least = Accept(">=");
      if (!at_least && !Accept("<=")) return Misunderstood(absl::StrCat("what about pool `", name, "`"));
      int nodes = 0;
      if (!absl::SimpleAtoi(Take(), &nodes) || nodes < 0) return Misunderstood("a number of nodes is expected");
      if (!Accept("nodes")) Accept("node");
      if (at_least) {
        least = std::max(least, nodes);
      } else {
        pool->quota = std::min(pool->quota, nodes);
      }
    }
    if (least > pool->quota) {
      return absl::InvalidArgumentError(
          absl::StrCat("pool `", name, "` has ", pool->quota, " nodes to be used, not ", least));
    }
    return absl::OkStatus();
  }

  absl::Status ReadNumber(const std::string& what, std::vector<int>& candidates) {
    int number = 0;
    if (!Accept("=") || !absl::SimpleAtoi(Take(), &number)) {
      return Misunderstood(absl::StrCat("`", what, "` is followed by `= NUMBER`"));
    }
    if (std::find(candidates.begin(), candidates.end(), number) == candidates.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("`", what, " = ", number, "` is not a candidate of the job: ", absl::StrJoin(candidates, ", ")));
    }
    candidates = {number};
    return absl::OkStatus();
  }

  template <class Enum, size_t N>
  absl::Status ReadWord(const std::string& what, const ir::NameTable<Enum, N>& names, std::vector<Enum>& candidates) {
    const bool is_assigned = Accept("=");
    const std::string word = Take();
    if (!is_assigned || word.empty()) return Misunderstood(absl::StrCat("`", what, "` is followed by `= WORD`"));
    std::vector<std::string> known;
    for (const Enum candidate : candidates) {
      known.emplace_back(ir::NameOf(names, candidate));
      if (known.back() == word) {
        candidates = {candidate};
        return absl::OkStatus();
      }
    }
    return absl::InvalidArgumentError(
        absl::StrCat("`", what, " = ", word, "` is not a candidate of the job: ", absl::StrJoin(known, ", ")));
  }

  const std::vector<std::string> words_;
  const bool is_closed_;  // every quote
  size_t next_ = 0;
  WishedProblem wished_;
};

}  // namespace

absl::StatusOr<WishedProblem> ApplyWish(absl::string_view wish, const ir::Problem& problem) {
  return WishReader(wish, problem).Read();
}

}  // namespace sail::driver
