// Which link rule holds between two zones.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"
#include "compiler/ir/names.h"
#include "compiler/passes/lower_cluster.h"

namespace sail {
namespace {

constexpr int kAnyZone = -1;
constexpr size_t kMaxZones = 1'000;  // of one cluster, which holds a link for each pair of them

struct LinkRule {
  const CheckedBlock* block = nullptr;
  int from = kAnyZone;  // declared zone
  int to = kAnyZone;
  ir::Link link;
};

class LinkLowering {
 public:
  LinkLowering(const std::vector<DeclaredZone>& declared, const std::vector<int>& used, LoweredCluster& lowered,
               DiagnosticSink& sink)
      : declared_(declared), used_(used), lowered_(lowered), sink_(sink) {}

  void Lower() {
    const int errors = sink_.reports();
    for (const CheckedBlock* block : lowered_.resources->Children("link")) AddRule(*block);
    if (sink_.reports() != errors) return;
    const size_t count = used_.size();
    if (count > kMaxZones) {
      sink_.Report(DiagnosticCode::kTooLarge, lowered_.resources->header,
                   absl::StrCat("the pools of `", lowered_.resources->label, "` stand in ", count, " zones, at most ",
                                kMaxZones, " are supported"));
      return;
    }
    SortRules();
    SortPools();
    auto& links = lowered_.cluster.links;
    links.assign(count, std::vector<ir::Link>(count));
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < count; ++j) {
        const LinkRule* rule = Choose(used_[i], used_[j]);
        if (rule == nullptr) continue;
        links[i][j] = rule->link;
        AddProfile(*rule, ir::ZoneId(static_cast<int>(i)), ir::ZoneId(static_cast<int>(j)));
        CheckNetworkCard(*rule, ir::ZoneId(static_cast<int>(i)));
      }
    }
    ReportMissing();
  }

 private:
  void SortRules() {
    for (const LinkRule& rule : rules_) {
      by_ends_[{rule.from, rule.to}].push_back(&rule);
      const bool differs = rule.from != rule.to;
      if (rule.block->link->both_ways && differs) by_ends_[{rule.to, rule.from}].push_back(&rule);
    }
  }

  void SortPools() {
    pools_in_.resize(used_.size());
    for (const ir::Pool& pool : lowered_.cluster.pools) pools_in_[pool.zone.index()].push_back(&pool);
  }

  void AddRule(const CheckedBlock& block) {
    const ast::Link& link = *block.link;
    LinkRule rule;
    rule.block = &block;
    if (link.scope != ast::LinkScope::kNone && link.scope_level.text != "zone" && link.scope_level.text != "region") {
      sink_.Report(DiagnosticCode::kEnumValue, link.scope_level.range,
                   absl::StrCat("`", link.scope_level.text, "` is not one of zone, region"));
      return;
    }
    if (!ResolveEnd(block.from, link.from.range, rule.from) || !ResolveEnd(block.to, link.to.range, rule.to)) return;
    rule.link.bandwidth = BytesPerSecond(block.GetDouble("bandwidth"));
    rule.link.latency = Seconds(block.GetDouble("latency"));
    rule.link.egress = UsdPerByte(block.GetDouble("egress"));
    rule.link.share = *ir::ValueOf(ir::kLinkShares, block.GetText("per"));
    rules_.push_back(rule);
  }

  // A zone is named by its label, by "region/label", or by the path region.label.
  bool ResolveEnd(const std::vector<std::string>& parts, SourceRange range, int& zone) {
    if (parts.empty()) return true;
    const std::string region = parts.size() > 1 ? parts.front() : "";
    const auto found = FindZone(declared_, parts.back(), region, range, *lowered_.resources, sink_);
    if (found) zone = *found;
    return found.has_value();
  }

  bool ScopeHolds(const LinkRule& rule, int from, int to) const {
    const ast::Link& link = *rule.block->link;
    if (link.scope == ast::LinkScope::kNone) return true;
    const bool same = link.scope_level.text == "zone" ? from == to : declared_[from].region == declared_[to].region;
    return same == (link.scope == ast::LinkScope::kWithin);
  }

  // In source order. A rule may be found by more than one of its names.
  std::vector<const LinkRule*> RulesFor(int from, int to) const {
    std::vector<const LinkRule*> found;
    for (const auto& ends : {std::pair(from, to), {from, kAnyZone}, {kAnyZone, to}, {kAnyZone, kAnyZone}}) {
      const auto rules = by_ends_.find(ends);
      if (rules == by_ends_.end()) continue;
      for (const LinkRule* rule : rules->second) {
        if (ScopeHolds(*rule, from, to)) found.push_back(rule);
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  // Smaller is more specific.
  static int Rank(const LinkRule& rule) {
    const int named = (rule.from != kAnyZone ? 1 : 0) + (rule.to != kAnyZone ? 1 : 0);
    if (named > 0) return 2 - named;
    const ast::Link& link = *rule.block->link;
    if (link.scope == ast::LinkScope::kNone) return 6;
    const bool zone = link.scope_level.text == "zone";
    if (link.scope == ast::LinkScope::kWithin) return zone ? 2 : 3;
    return zone ? 5 : 4;
  }

  const LinkRule* Choose(int from, int to) {
    const LinkRule* best = nullptr;
    const LinkRule* tied = nullptr;
    for (const LinkRule* rule : RulesFor(from, to)) {
      if (best == nullptr || Rank(*rule) < Rank(*best)) {
        best = rule;
        tied = nullptr;
      } else if (Rank(*rule) == Rank(*best)) {
        tied = rule;
      }
    }
    if (tied != nullptr && ties_.emplace(best, tied).second) ReportTie(*best, *tied, from, to);
    if (best == nullptr) missing_.emplace(std::min(from, to), std::max(from, to));
    return best;
  }

  void ReportTie(const LinkRule& first, const LinkRule& second, int from, int to) {
    sink_.Report({.code = DiagnosticCode::kLinkTie,
                  .message = absl::StrCat("two link rules of equal rank cover \"", declared_[from].name, "\" -> \"",
                                          declared_[to].name, "\""),
                  .primary = {second.block->header, ""},
                  .secondary = {{first.block->header, "the other rule"}},
                  .notes = {},
                  .helps = {Rank(first) == 0 ? "keep one" : "name both zones in one of them"}});
  }

  // One report for each kind of pair: a single rule would cover all pairs of that kind.
  void ReportMissing() {
    struct Kind {
      const char* rule;
      std::vector<std::pair<int, int>> pairs;
    };
    Kind kinds[] = {{"within zone", {}}, {"within region", {}}, {"across region", {}}};
    for (const auto& [a, b] : missing_) {
      kinds[a == b ? 0 : declared_[a].region == declared_[b].region ? 1 : 2].pairs.emplace_back(a, b);
    }
    for (const Kind& kind : kinds) {
      if (kind.pairs.empty()) continue;
      const DeclaredZone& from = declared_[kind.pairs.front().first];
      const DeclaredZone& to = declared_[kind.pairs.front().second];
      Diagnostic diagnostic{.code = DiagnosticCode::kNoLink,
                            .message = absl::StrCat("no link rule for \"", from.name, "\" -> \"", to.name, "\""),
                            .primary = {lowered_.resources->header, ""},
                            .secondary = {{from.range, "from here"}},
                            .notes = {},
                            .helps = {absl::StrCat("add `link * <-> * ", kind.rule,
                                                   " { bandwidth = … Gbps, latency = … us, egress = … USD/GB }`")}};
      if (from.range != to.range) diagnostic.secondary.push_back({to.range, "to here"});
      if (kind.pairs.size() > 1) {
        diagnostic.notes.push_back(
            absl::StrCat(kind.pairs.size() - 1, " other pairs ", kind.rule, " have none either"));
      }
      sink_.Report(std::move(diagnostic));
    }
  }

  void AddProfile(const LinkRule& rule, ir::ZoneId from, ir::ZoneId to) {
    if (!rule.block->Has("profile")) return;
    lowered_.links.push_back({.from = from,
                              .to = to,
                              .path = FromMainDirectory(*rule.block->module, rule.block->GetText("profile")),
                              .range = rule.block->RangeOf("profile")});
  }

  // A link cannot be faster than the card of the node it starts from; a factor of 8 is bits read as bytes.
  void CheckNetworkCard(const LinkRule& rule, ir::ZoneId from) {
    if (rule.block->module->is_standard() || warned_.contains(&rule)) return;
    for (const ir::Pool* pool : pools_in_[from.index()]) {
      const ir::Machine& machine = lowered_.cluster.machines[pool->machine.index()];
      if (!machine.nic || rule.link.bandwidth <= *machine.nic) continue;
      warned_.insert(&rule);
      const Amount& written = rule.block->GetAmount("bandwidth");
      const double factor = rule.link.bandwidth / *machine.nic;
      std::vector<std::string> helps;
      if (factor == 8) {
        const auto in_bits = written.value.Divide(Rational(8));
        if (in_bits) helps.push_back(absl::StrCat("did you mean bits: `", FormatIn(*in_bits, "Gbps"), "`?"));
      }
      sink_.Report({.code = DiagnosticCode::kLinkSuspicious,
                    .message = absl::StrCat("link of ", Format(written), " is ", absl::SixDigits(factor),
                                            " times the network card of `", machine.name, "` (",
                                            absl::SixDigits(machine.nic->value() * 8 / 1e9),
                                            " Gbps = ", absl::SixDigits(machine.nic->value() / 1e9), " GBps)"),
                    .primary = {rule.block->RangeOf("bandwidth"), ""},
                    .secondary = {},
                    .notes = {absl::StrCat("pool `", pool->name, "` sends over this link")},
                    .helps = std::move(helps)});
      return;
    }
  }

  const std::vector<DeclaredZone>& declared_;
  const std::vector<int>& used_;
  LoweredCluster& lowered_;
  DiagnosticSink& sink_;
  std::vector<LinkRule> rules_;
  std::map<std::pair<int, int>, std::vector<const LinkRule*>>
      by_ends_;                                         // of rules_, both ways where they hold both ways
  std::vector<std::vector<const ir::Pool*>> pools_in_;  // by zone of the cluster
  std::set<std::pair<const LinkRule*, const LinkRule*>> ties_;
  std::set<std::pair<int, int>> missing_;
  std::set<const LinkRule*> warned_;
};

}  // namespace

void LowerLinks(const std::vector<DeclaredZone>& declared, const std::vector<int>& used, LoweredCluster& lowered,
                DiagnosticSink& sink) {
  LinkLowering(declared, used, lowered, sink).Lower();
}

}  // namespace sail
