#include "compiler/base/diagnostic.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace sail {
namespace {

constexpr char kDiagnosedText[] = "errors were reported";
constexpr char kDiagnosedPayload[] = "sail/diagnosed";
constexpr size_t kLongestWordToCompare = 64;
constexpr size_t kShortestPart = 3;  // of a longer name that may stand for all of it
constexpr absl::string_view kCodePrefix = "SAIL";

struct CodeInfo {
  DiagnosticCode code;
  Severity severity;
  absl::string_view title;
};

constexpr CodeInfo kCodes[] = {
#define SAIL_DIAGNOSTIC(name, number, severity, title) {DiagnosticCode::name, Severity::severity, title},
#include "compiler/base/diagnostics.def"
#undef SAIL_DIAGNOSTIC
};

const CodeInfo& InfoOf(DiagnosticCode code) {
  return *std::find_if(std::begin(kCodes), std::end(kCodes),
                       [code](const CodeInfo& info) { return info.code == code; });
}

// What follows "SAIL" or the letter of a severity.
absl::string_view DigitsOf(absl::string_view text) {
  if (absl::StartsWith(text, kCodePrefix)) return text.substr(kCodePrefix.size());
  if (absl::StartsWith(text, "W") || absl::StartsWith(text, "E")) return text.substr(1);
  return text;
}

bool SameLabel(const Label& a, const Label& b) { return a.range == b.range && a.text == b.text; }

bool SameDiagnostic(const Diagnostic& a, const Diagnostic& b) {
  return a.code == b.code && SameLabel(a.primary, b.primary) && a.message == b.message && a.notes == b.notes &&
         a.helps == b.helps &&
         std::equal(a.secondary.begin(), a.secondary.end(), b.secondary.begin(), b.secondary.end(), SameLabel);
}

// Optimal string alignment: insert, delete, replace, swap of neighbours. O(|a| |b|).
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

}  // namespace

Severity SeverityOf(DiagnosticCode code) { return InfoOf(code).severity; }
absl::string_view TitleOf(DiagnosticCode code) { return InfoOf(code).title; }
std::string CodeText(DiagnosticCode code) { return absl::StrFormat("%s%04d", kCodePrefix, static_cast<int>(code)); }

Severity SeverityOf(const Diagnostic& diagnostic) {
  return diagnostic.denied ? Severity::kError : SeverityOf(diagnostic.code);
}

std::vector<DiagnosticCode> AllCodes() {
  std::vector<DiagnosticCode> codes;
  for (const CodeInfo& info : kCodes) codes.push_back(info.code);
  std::sort(codes.begin(), codes.end());
  return codes;
}

std::optional<DiagnosticCode> ParseCode(absl::string_view text) {
  const absl::string_view digits = DigitsOf(text);
  int number = 0;
  if (digits.empty() || digits.size() > 4 || !std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(digits, &number)) {
    return std::nullopt;
  }
  for (const CodeInfo& info : kCodes) {
    if (static_cast<int>(info.code) == number) return info.code;
  }
  return std::nullopt;
}

std::string UnknownCodeMessage(absl::string_view text) {
  std::vector<std::string> numbers;
  for (const DiagnosticCode code : AllCodes()) numbers.push_back(CodeText(code).substr(kCodePrefix.size()));
  const std::string nearest = Nearest(DigitsOf(text), numbers);
  return absl::StrCat("unknown code '", text, "'",
                      nearest.empty() ? "" : absl::StrCat("; did you mean '", kCodePrefix, nearest, "'?"));
}

void DiagnosticSink::Report(Diagnostic diagnostic) {
  const bool is_error = SeverityOf(diagnostic) == Severity::kError;
  if (is_error) ++reports_;
  const SourceRange& place = diagnostic.primary.range;
  std::vector<size_t>& same_place = by_place_[{place.file, place.begin, place.end, diagnostic.code}];
  const bool repeated = std::any_of(repeated_.begin(), repeated_.end(), [&](const SourceRange& range) {
    return range.file == place.file && range.begin <= place.begin && place.end <= range.end;
  });
  if (repeated && !same_place.empty()) return;
  for (const size_t known : same_place) {
    if (SameDiagnostic(diagnostics_[known], diagnostic)) return;
  }
  if (is_error) ++error_count_;
  same_place.push_back(diagnostics_.size());
  diagnostics_.push_back(std::move(diagnostic));
}

void DiagnosticSink::Report(DiagnosticCode code, SourceRange range, std::string message, std::vector<std::string> helps,
                            std::vector<Label> secondary, std::string label) {
  Report({.code = code,
          .message = std::move(message),
          .primary = {range, std::move(label)},
          .secondary = std::move(secondary),
          .notes = {},
          .helps = std::move(helps)});
}

void DiagnosticSink::DeclareRepeated(SourceRange range) {
  if (std::find(repeated_.begin(), repeated_.end(), range) == repeated_.end()) repeated_.push_back(range);
}

std::vector<Diagnostic> DiagnosticSink::Sorted() const {
  std::vector<Diagnostic> sorted = diagnostics_;
  const auto key = [](const Diagnostic& d) {
    return std::make_tuple(d.primary.range.file, d.primary.range.begin, d.code);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&key](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
  return sorted;
}

absl::Status DiagnosedError() {
  absl::Status status = absl::InvalidArgumentError(kDiagnosedText);
  status.SetPayload(kDiagnosedPayload, absl::Cord());
  return status;
}

bool IsDiagnosedError(const absl::Status& status) { return status.GetPayload(kDiagnosedPayload).has_value(); }

std::string Nearest(absl::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > kLongestWordToCompare) return "";
  const auto goes_on = std::find_if(candidates.begin(), candidates.end(), [&](absl::string_view candidate) {
    return word.size() >= kShortestPart && absl::ConsumePrefix(&candidate, word) && !candidate.empty() &&
           !absl::ascii_isalnum(candidate.front());
  });
  if (goes_on != candidates.end()) return *goes_on;
  size_t best_distance = word.size() / 3 + 1;
  std::string best;
  for (const std::string& candidate : candidates) {
    const size_t difference =
        candidate.size() > word.size() ? candidate.size() - word.size() : word.size() - candidate.size();
    if (difference >= best_distance) continue;  // the distance is at least the difference of the lengths
    const size_t distance = EditDistance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::vector<std::string> DidYouMean(absl::string_view nearest, std::string otherwise) {
  if (!nearest.empty()) return {absl::StrCat("did you mean `", nearest, "`?")};
  if (otherwise.empty()) return {};
  return {std::move(otherwise)};
}

}  // namespace sail
