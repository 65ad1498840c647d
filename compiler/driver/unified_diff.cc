#include "compiler/driver/unified_diff.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace sail::driver {
namespace {

constexpr int kContext = 3;

using Lines = std::vector<absl::string_view>;  // each with its line end; only the last may lack one

Lines SplitLines(absl::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const size_t size = end == absl::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

// One step of an edit script.
struct Edit {
  char mark;  // ' ' kept, '-' only before, '+' only after
  absl::string_view line;
};

// reach[k] is how far, in lines of `a`, diagonal k = x - y gets; indices run from -size/2 to size/2.
class Reach {
 public:
  explicit Reach(int radius) : x_(2 * radius + 1, 0) {}
  int& operator[](int k) { return x_[k + static_cast<int>(x_.size()) / 2]; }
  // The part that round d reads.
  Reach Around(int d) {
    Reach part(d + 1);
    for (int k = -d - 1; k <= d + 1; ++k) part[k] = (*this)[k];
    return part;
  }
  // Whether round d arrives on diagonal k by a line of `b` (from k + 1), not by one of `a` (from k - 1).
  bool ComesFromB(int k, int d) { return k == -d || (k != d && (*this)[k - 1] < (*this)[k + 1]); }

 private:
  std::vector<int> x_;
};

// The greedy search of Myers: round d extends every diagonal that d edits reach, until the end of both texts is
// reached. Returns what each round read, the last one included; empty if kMaxEdits are not enough.
std::vector<Reach> Search(const Lines& a, const Lines& b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  const int limit = std::min(n + m, kMaxEdits);
  std::vector<Reach> rounds;
  Reach reach(limit + 1);
  for (int d = 0; d <= limit; ++d) {
    rounds.push_back(reach.Around(d));
    for (int k = -d; k <= d; k += 2) {
      int x = reach.ComesFromB(k, d) ? reach[k + 1] : reach[k - 1] + 1;
      while (x < n && x - k < m && a[x] == b[x - k]) ++x;
      reach[k] = x;
      if (x >= n && x - k >= m) return rounds;
    }
  }
  return {};
}

// The search's path, walked back from the end: in each round the equal lines, then the one edit that led to them.
std::vector<Edit> ShortestScript(const Lines& a, const Lines& b) {
  std::vector<Reach> rounds = Search(a, b);
  std::vector<Edit> script;
  if (rounds.empty()) {  // too different: all of one, then all of the other
    for (const absl::string_view line : a) script.push_back({'-', line});
    for (const absl::string_view line : b) script.push_back({'+', line});
    return script;
  }
  int x = static_cast<int>(a.size()), y = static_cast<int>(b.size());
  const auto keep_down_to = [&](int end_x) {
    while (x > end_x) {
      script.push_back({' ', a[--x]});
      --y;
    }
  };
  for (int d = static_cast<int>(rounds.size()) - 1; d > 0; --d) {
    const int k = x - y;
    const bool from_b = rounds[d].ComesFromB(k, d);
    keep_down_to(from_b ? rounds[d][k + 1] : rounds[d][k - 1] + 1);
    script.push_back(from_b ? Edit{'+', b[--y]} : Edit{'-', a[--x]});
  }
  keep_down_to(0);
  std::reverse(script.begin(), script.end());
  return script;
}

// The script of two texts; equal lines at both ends are not searched.
std::vector<Edit> ScriptOf(const Lines& a, const Lines& b) {
  const auto [first_a, first_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  auto last_a = a.end();
  auto last_b = b.end();
  while (last_a > first_a && last_b > first_b && *(last_a - 1) == *(last_b - 1)) --last_a, --last_b;
  std::vector<Edit> script;
  for (auto line = a.begin(); line != first_a; ++line) script.push_back({' ', *line});
  for (const Edit& edit : ShortestScript(Lines(first_a, last_a), Lines(first_b, last_b))) script.push_back(edit);
  for (auto line = last_a; line != a.end(); ++line) script.push_back({' ', *line});
  return script;
}

// "12,3" as in "@@ -12,3 +12,4 @@": the line before an empty range, and no count of one.
std::string RangeText(int first, int count) {
  if (count == 1) return absl::StrCat(first + 1);
  return absl::StrCat(count == 0 ? first : first + 1, ",", count);
}

bool IsChange(const Edit& edit) { return edit.mark != ' '; }

// The end of the hunk whose first change is `change`: it goes on while the next change is near enough for the contexts
// to touch.
int EndOfHunk(const std::vector<Edit>& script, int change) {
  const int size = static_cast<int>(script.size());
  int last = change;
  for (int i = change; i < size && i <= last + 2 * kContext + 1; ++i) {
    if (IsChange(script[i])) last = i;
  }
  return std::min(size, last + 1 + kContext);
}

}  // namespace

std::string UnifiedDiff(absl::string_view before, absl::string_view after, absl::string_view before_name,
                        absl::string_view after_name) {
  if (before == after) return "";
  const std::vector<Edit> script = ScriptOf(SplitLines(before), SplitLines(after));
  const int size = static_cast<int>(script.size());
  std::string diff = absl::StrCat("--- ", before_name, "\n+++ ", after_name, "\n");
  int line_a = 0, line_b = 0;  // of script[i]
  for (int i = 0; i < size;) {
    const auto change = std::find_if(script.begin() + i, script.end(), IsChange);
    if (change == script.end()) break;
    const int skipped = std::max(0, static_cast<int>(change - script.begin()) - kContext - i);
    const int end = EndOfHunk(script, static_cast<int>(change - script.begin()));
    i += skipped;
    line_a += skipped;
    line_b += skipped;
    const int first_a = line_a, first_b = line_b;
    std::string hunk;
    for (; i < end; ++i) {
      absl::StrAppend(&hunk, absl::string_view(&script[i].mark, 1), script[i].line);
      if (!absl::EndsWith(script[i].line, "\n")) hunk += "\n\\ No newline at end of file\n";
      line_a += script[i].mark != '+';
      line_b += script[i].mark != '-';
    }
    absl::StrAppend(&diff, "@@ -", RangeText(first_a, line_a - first_a), " +", RangeText(first_b, line_b - first_b),
                    " @@\n", hunk);
  }
  return diff;
}

}  // namespace sail::driver
