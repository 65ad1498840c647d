#include "compiler/frontend/keywords.h"

#include <algorithm>

#include "SailLexer.h"
#include "absl/strings/ascii.h"
#include "antlr4-runtime.h"

namespace sail {
namespace {

using parser::SailLexer;

// The words whose token types lie in [first, end); a literal is spelled 'word' in the vocabulary.
std::vector<std::string> WordsBetween(size_t first, size_t end) {
  antlr4::ANTLRInputStream empty;
  const SailLexer lexer(&empty);
  std::vector<std::string> words;
  for (size_t type = first; type < end; ++type) {
    const std::string literal = lexer.getVocabulary().getLiteralName(type);
    if (literal.size() > 2 && absl::ascii_isalpha(literal[1])) words.push_back(literal.substr(1, literal.size() - 2));
  }
  std::sort(words.begin(), words.end());
  return words;
}

}  // namespace

// The grammar lists the reserved words first, the soft ones from AS on, then operators.
std::vector<std::string> ReservedWords() { return WordsBetween(1, SailLexer::AS); }

std::vector<std::string> SoftWords() {
  antlr4::ANTLRInputStream empty;
  return WordsBetween(SailLexer::AS, SailLexer(&empty).getVocabulary().getMaxTokenType() + 1);
}

}  // namespace sail
