// Strings and text blocks: where `${…}` stands in them, escapes, and the indentation of text blocks.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/frontend/build_context.h"
#include "compiler/frontend/token.h"

namespace sail::frontend {

// The `${…}` of a string or text block. An offset is relative to the token.
struct Interpolations {
  enum class Problem { kNone, kUnclosed, kQuote };
  struct Range {
    int begin;  // of `{`
    int end;    // after the matching `}`
  };
  std::vector<Range> ranges;
  Problem problem = Problem::kNone;  // `${` without its `}` on the same line, or a `"` inside
  int problem_at = 0;
};

// `text` is the token with its quotes. Stops at the first problem. Linear.
Interpolations FindInterpolations(absl::string_view text);

// The texts around `ranges` (one more than them), escapes resolved: \n \t \" \\ \$ \u{…}. A text block loses its common
// indentation, and the line ends after the opening and before the closing quotes. Reports SAIL0108 for other escapes.
std::vector<std::string> StringTexts(const Token& token, const std::vector<Interpolations::Range>& ranges,
                                     const BuildContext& context);

}  // namespace sail::frontend
