#include "runtime/elastic/first_cause.h"

#include <functional>

#include "absl/strings/str_cat.h"
#include "runtime/elastic/exit_code.h"

namespace sail::rt {
namespace {

std::string AfterStep(const RankState& state) {
  return state.last_step == 0 ? " before the first step" : absl::StrCat(" after step ", state.last_step);
}

bool EndedByItself(const RankState& state) {
  return state.exit && !state.exit->on_request && !state.exit->exit.ok() && state.error.ok();
}
bool HasOwnError(const RankState& state) { return !state.error.ok() && !absl::IsUnavailable(state.error); }
bool WasStopped(const RankState& state) { return state.exit && state.exit->on_request && state.error.ok(); }
bool KeepsOthersWaiting(const RankState& state) { return !state.exit && state.error.ok(); }

// The first rank for which `holds`, or -1.
int Find(const std::vector<RankState>& ranks, const std::function<bool(const RankState&)>& holds) {
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (holds(ranks[i])) return static_cast<int>(i);
  }
  return -1;
}

Cause MakeCause(const RankState& state, std::string message, bool certain) {
  Cause cause{.message = std::move(message), .log_tail = "", .exit_code = kExitEnvironment, .certain = certain};
  if (state.exit) {
    cause.log_tail = state.exit->log_tail;
    if (state.exit->exit.code == kExitInternal) cause.exit_code = kExitInternal;
  }
  return cause;
}

Cause SilentRanks(const Bundle& bundle, const std::vector<RankState>& ranks) {
  std::vector<int> silent;
  int slowest = -1;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (!KeepsOthersWaiting(ranks[i])) continue;
    silent.push_back(static_cast<int>(i));
    if (slowest < 0 || ranks[i].last_step < ranks[slowest].last_step) slowest = static_cast<int>(i);
  }
  std::string message =
      absl::StrCat(DescribeRank(bundle, ir::Rank(slowest), ranks[slowest].pid), " stopped answering",
                   AfterStep(ranks[slowest]), ": the others waited ", bundle.limits.collective_timeout.value(), " s");
  if (silent.size() > 1) absl::StrAppend(&message, " (no answer from ranks ", Ranges(silent), ")");
  return MakeCause(ranks[slowest], std::move(message), /*certain=*/false);
}

}  // namespace

std::optional<Cause> FirstCause(const Bundle& bundle, const std::vector<RankState>& ranks) {
  const auto describe = [&](int i) { return DescribeRank(bundle, ir::Rank(i), ranks[i].pid); };
  // By signal before without a word: an exit code may be a library's reaction to a vanished peer.
  int i = Find(ranks, [](const RankState& state) { return EndedByItself(state) && state.exit->exit.signal != 0; });
  if (i < 0) i = Find(ranks, EndedByItself);
  if (i >= 0) {
    const std::string how = Describe(ranks[i].exit->exit);
    return MakeCause(ranks[i], absl::StrCat(describe(i), " ", how, AfterStep(ranks[i])), /*certain=*/true);
  }
  if ((i = Find(ranks, HasOwnError)) >= 0) {
    // With its exit comes the end of its log.
    return MakeCause(ranks[i],
                     absl::StrCat(describe(i), " failed", AfterStep(ranks[i]), ": ", ranks[i].error.message()),
                     /*certain=*/ranks[i].exit.has_value());
  }
  if ((i = Find(ranks, WasStopped)) >= 0) {
    return MakeCause(ranks[i], absl::StrCat(describe(i), " was stopped with its node", AfterStep(ranks[i])),
                     /*certain=*/true);
  }
  i = Find(ranks, [](const RankState& state) { return !state.error.ok(); });
  if (i < 0) return std::nullopt;
  if (Find(ranks, KeepsOthersWaiting) >= 0) return SilentRanks(bundle, ranks);
  return MakeCause(ranks[i],
                   absl::StrCat(describe(i), " lost its peers", AfterStep(ranks[i]), ": ", ranks[i].error.message()),
                   /*certain=*/false);
}

std::string DescribeRank(const Bundle& bundle, ir::Rank rank, int pid) {
  const ir::Placement placement(bundle.plan);
  const ir::RankPlace& place = placement.place(rank);
  return absl::StrCat("rank ", rank.index(), " (node ", NodeName(bundle.problem.cluster, place.pool, place.node),
                      ", gpu ", place.gpu, ", pid ", pid, ")");
}

std::string Ranges(const std::vector<int>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    absl::StrAppend(&text, text.empty() ? "" : ", ", numbers[i]);
    if (last > i) absl::StrAppend(&text, "-", numbers[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace sail::rt
