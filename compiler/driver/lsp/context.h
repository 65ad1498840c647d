// Where the cursor stands, told from the words before it alone, so that it works in half-written text.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace sail::lsp {

enum class Expect {
  kNothing,     // inside a comment or text, or nothing to propose
  kStatement,   // an attribute, a block or a statement; after `price.` in the block that `path` leads to
  kValue,       // the value of the attribute `path` or an element of its list; without a path any value
  kBase,        // a block of `base_kind`, after `extends`
  kUnit,        // after `number`, in the value of `path` or a limit of `metric`
  kMetric,      // after `maximize`, or a constraint's name
  kImportPath,  // inside the text of an import
};

// A name that is declared in the text before the cursor and visible at it.
struct VisibleName {
  std::string name;
  std::string what;  // "let", "param", "for", "import", or the kind of a block
  friend bool operator==(const VisibleName&, const VisibleName&) = default;
};

struct CursorContext {
  Expect expect = Expect::kNothing;
  // Kinds of the enclosing blocks, outermost first. The first is "file"; "" is a body of no known kind.
  std::vector<std::string> kinds;
  std::vector<std::string> path;       // {"price", "spot"}
  std::vector<std::string> qualifier;  // {"gcp"}: the names before the dot, where a value or base is being written
  std::string base_kind;
  std::vector<VisibleName> names;  // outermost first
  std::string own_name;            // what the statement at the cursor declares
  std::string number;              // digits as written
  std::string metric;
  int word_begin = 0;  // what the author began to write: [word_begin, offset)

  const std::string& kind() const { return kinds.back(); }
};

// Linear in the text before `offset` (bytes).
CursorContext ContextAt(absl::string_view text, int offset);

}  // namespace sail::lsp
