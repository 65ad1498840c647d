// Warnings about declared hardware: legal, and yet probably not what was meant. The standard library is not linted.
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/passes/lint_catalogue.h"

namespace sail {
namespace {

void LintGpu(const CheckedBlock& gpu, DiagnosticSink& sink) {
  const Amount& memory = gpu.GetAmount("memory");
  if (memory.unit == "B" || absl::StrContains(memory.unit, "iB") || memory.unit.empty()) return;
  const auto in_gib = memory.value.Divide(KnownUnit("GiB").factor);
  const auto written = memory.value.Divide(memory.unit_factor);
  if (!in_gib || !written) return;
  sink.Report({.code = DiagnosticCode::kDecimalGpuMemory,
               .message = absl::StrFormat("%s is %.2f GiB; GPU memory is normally quoted in GiB", Format(memory),
                                          in_gib->ToDouble()),
               .primary = {gpu.RangeOf("memory"), ""},
               .secondary = {},
               .notes = {},
               .helps = {absl::StrCat("did you mean `", written->ToString(), " ", memory.unit.substr(0, 1), "iB`?")}});
}

void LintPrice(const CheckedBlock& price, DiagnosticSink& sink) {
  if (!price.Has("spot") || !price.Has("on_demand")) return;
  const Amount& spot = price.GetAmount("spot");
  const Amount& on_demand = price.GetAmount("on_demand");
  if (spot.dimension != on_demand.dimension || !(on_demand.value < spot.value)) return;
  sink.Report(
      {.code = DiagnosticCode::kPriceAnomaly,
       .message = absl::StrCat("spot price ", Format(spot), " is above the on-demand price ", Format(on_demand)),
       .primary = {price.RangeOf("spot"), ""},
       .secondary = {{price.RangeOf("on_demand"), "on demand"}},
       .notes = {},
       .helps = {}});
}

// A figure of a known gpu that is several times off is a slip of a unit or of a power of ten.
constexpr double kFarFactor = 4;

void CompareWithCatalogue(const CheckedBlock& gpu, const CheckedBlock& known, DiagnosticSink& sink) {
  for (const auto& [name, attribute] : gpu.attributes) {
    const Amount* amount = std::get_if<Amount>(&attribute.value->content);
    if (amount == nullptr || attribute.schema->type != ValueType::kQuantity || !known.Has(name)) continue;
    const Amount& reference = known.GetAmount(name);
    const double factor = amount->value.ToDouble() / reference.value.ToDouble();
    if (factor < kFarFactor && factor > 1 / kFarFactor) continue;
    sink.Report({.code = DiagnosticCode::kFarFromCatalogue,
                 .message = absl::StrFormat("`%s` of `%s` is %.3g times %s the %s of %s", name, gpu.label,
                                            factor > 1 ? factor : 1 / factor, factor > 1 ? "above" : "below",
                                            Format(reference), kGpuCatalogue),
                 .primary = {gpu.RangeOf(name), ""},
                 .secondary = {{known.RangeOf(name), "the catalogue's figure"}},
                 .notes = {},
                 .helps = {"check the unit and the power of ten; a card of another kind needs another name"}});
  }
}

void LintAgainstCatalogue(const CheckedBlock& gpu, const CheckedBlocks& blocks, DiagnosticSink& sink) {
  for (const auto& known : blocks.top) {
    const bool is_known = known->module->package == kGpuCatalogue && absl::EqualsIgnoreCase(known->label, gpu.label);
    if (is_known) CompareWithCatalogue(gpu, *known, sink);
  }
}

void LintBlock(const CheckedBlock& block, DiagnosticSink& sink) {
  if (block.is_sound && absl::string_view(block.kind->name) == "gpu") LintGpu(block, sink);
  if (block.is_sound && absl::string_view(block.kind->name) == "price") LintPrice(block, sink);
  for (const auto& child : block.children) LintBlock(*child, sink);
}

}  // namespace

void LintCatalogue(const CheckedBlocks& blocks, DiagnosticSink& sink) {
  for (const auto& block : blocks.top) {
    if (block->module->is_standard()) continue;
    LintBlock(*block, sink);
    if (block->is_sound && absl::string_view(block->kind->name) == "gpu") LintAgainstCatalogue(*block, blocks, sink);
  }
}

}  // namespace sail
