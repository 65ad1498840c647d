#include "compiler/frontend/keywords.h"

#include <algorithm>

#include "SailLexer.h"
#include "absl/strings/ascii.h"
#include "antlr4-runtime.h"

namespace sail {
namespace {

using parser::SailLexer;

// The words whose token types lie in [first, end). A word is spelled as its token in lower case.
std::vector<std::string> WordsBetween(size_t first, size_t end) {
  antlr4::ANTLRInputStream empty;
  const SailLexer lexer(&empty);
  std::vector<std::string> words;
  for (size_t type = first; type < end; ++type) {
    words.push_back(absl::AsciiStrToLower(lexer.getVocabulary().getSymbolicName(type)));
  }
  return words;
}

std::vector<std::string> Sorted(std::vector<std::string> words) {
  std::sort(words.begin(), words.end());
  return words;
}

}  // namespace

// The grammar lists the reserved words first, the soft ones from AS on, then UNIT.
std::vector<std::string> ReservedWords() { return Sorted(WordsBetween(SailLexer::SAIL, SailLexer::AS)); }
std::vector<std::string> SoftWords() { return Sorted(WordsBetween(SailLexer::AS, SailLexer::UNIT)); }

namespace frontend {

int TypeOfWord(absl::string_view text) {
  static const std::vector<std::string> kWords = WordsBetween(SailLexer::SAIL, SailLexer::UNIT);
  const auto found = std::find(kWords.begin(), kWords.end(), text);
  if (found == kWords.end()) return SailLexer::IDENT;
  return static_cast<int>(SailLexer::SAIL) + static_cast<int>(found - kWords.begin());
}

}  // namespace frontend
}  // namespace sail
