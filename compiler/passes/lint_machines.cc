#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/number_text.h"
#include "compiler/passes/lint_catalogue.h"

namespace sail {
namespace {

// Prices of one gpu differ between clouds by less than this; a slip of a unit or of a power of ten is more.
constexpr double kFarFactor = 4;

// On demand, USD/h of one GPU; absent when the machine has no such price.
std::optional<double> PricePerGpu(const CheckedBlock& machine) {
  const CheckedBlock* price = machine.Child("price");
  if (price == nullptr || !price->is_sound || !price->Has("on_demand")) return std::nullopt;
  const Amount& amount = price->GetAmount("on_demand");
  const bool per_gpu = amount.dimension == KnownUnit("USD/GPU/h").dimension;
  const double per_hour = amount.value.ToDouble() / KnownUnit("USD/h").factor.ToDouble();
  return per_gpu ? per_hour : per_hour / static_cast<double>(machine.GetInt("gpus_per_node"));
}

struct PriceRange {
  double lowest = 0;
  double highest = 0;
};

class MachineLint {
 public:
  MachineLint(const CheckedBlocks& blocks, DiagnosticSink& sink) : sink_(sink) {
    for (const auto& block : blocks.top) {
      if (!IsSoundMachine(*block) || !block->module->is_standard()) continue;
      known_.emplace(absl::AsciiStrToLower(block->label), block.get());
      const auto price = PricePerGpu(*block);
      if (!price) continue;
      const auto [it, is_new] = prices_.try_emplace(block->Follow("gpu")->label, PriceRange{*price, *price});
      it->second.lowest = std::min(it->second.lowest, *price);
      it->second.highest = std::max(it->second.highest, *price);
    }
  }

  static bool IsSoundMachine(const CheckedBlock& block) {
    return block.is_sound && absl::string_view(block.kind->name) == "machine" && block.Follow("gpu") != nullptr;
  }

  void Lint(const CheckedBlock& machine) {
    const auto known = known_.find(absl::AsciiStrToLower(machine.label));
    if (known != known_.end()) CompareShape(machine, *known->second);
    ComparePrice(machine);
  }

 private:
  void CompareShape(const CheckedBlock& machine, const CheckedBlock& known) {
    const int64_t gpus = machine.GetInt("gpus_per_node"), known_gpus = known.GetInt("gpus_per_node");
    if (gpus == known_gpus) return;
    Diagnostic diagnostic{.code = DiagnosticCode::kKnownShape,
                          .message = absl::StrCat("`", machine.label, "` has ", CountText(gpus, "GPU"), " here, ",
                                                  known_gpus, " in ", known.module->name),
                          .primary = {machine.RangeOf("gpus_per_node"), ""},
                          .secondary = {{known.RangeOf("gpus_per_node"), "the known machine"}},
                          .notes = {},
                          .helps = {absl::StrCat("write ", CountText(known_gpus, "GPU"),
                                                 ", or give a machine of another shape another name")}};
    const auto price = PricePerGpu(machine), known_price = PricePerGpu(known);
    if (price && known_price) {
      diagnostic.notes.push_back(absl::StrFormat("a GPU costs %.4g USD/h here, %.4g there", *price, *known_price));
    }
    sink_.Report(std::move(diagnostic));
  }

  void ComparePrice(const CheckedBlock& machine) {
    const auto price = PricePerGpu(machine);
    const auto range = prices_.find(machine.Follow("gpu")->label);
    if (!price || *price == 0 || range == prices_.end()) return;
    const bool is_low = *price * kFarFactor < range->second.lowest;
    if (!is_low && *price < range->second.highest * kFarFactor) return;
    const double reference = is_low ? range->second.lowest : range->second.highest;
    sink_.Report(
        DiagnosticCode::kFarFromCatalogue, machine.Child("price")->RangeOf("on_demand"),
        absl::StrFormat("a %s costs %.4g USD/h here, %.3g times %s the %.4g USD/h of the standard library",
                        range->first, *price, is_low ? reference / *price : *price / reference,
                        is_low ? "below" : "above", reference),
        {"check for cents instead of dollars, and for the price of a whole node; if it is right, say so on the "
         "line above: `# allow(0424): our contract`"});
  }

  DiagnosticSink& sink_;
  std::map<std::string, const CheckedBlock*> known_;  // standard machines by name in lower case
  std::map<std::string, PriceRange> prices_;          // by gpu
};

void LintBelow(const CheckedBlock& block, MachineLint& lint) {
  if (MachineLint::IsSoundMachine(block)) lint.Lint(block);
  for (const auto& child : block.children) LintBelow(*child, lint);
}

}  // namespace

void LintMachines(const CheckedBlocks& blocks, DiagnosticSink& sink) {
  MachineLint lint(blocks, sink);
  for (const auto& block : blocks.top) {
    if (!block->module->is_standard()) LintBelow(*block, lint);
  }
}

}  // namespace sail
