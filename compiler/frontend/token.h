// Words of a source text, independent of ANTLR. The text of a token is its byte range in the file.
#pragma once

#include <algorithm>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/base/source.h"

namespace sail::frontend {

enum class TokenKind {
  kName,      // identifiers and soft words
  kReserved,  // words that are never names
  kNumber,
  kUnit,  // GiB, USD, h
  kPer,   // the `/` inside a unit
  kDate,
  kString,       // text blocks, too
  kPrefix,       // `-` without an operand before it, and `not`
  kOpen,         // ( [ {
  kClose,        // ) ] }
  kSeparator,    // a comma between two statements, constraints or fields
  kPunctuation,  // everything else between words
  kComment,
  kEnd,  // of the file; empty range
};

struct Token {
  int type = 0;  // the grammar's token type
  TokenKind kind = TokenKind::kEnd;
  int begin = 0;  // bytes
  int end = 0;
  int line = 1;              // of `begin`
  int end_line = 1;          // of the last character; differs from `line` in text blocks
  bool starts_line = false;  // nothing but blanks before it
  bool made_up = false;      // a bracket added by BalanceBrackets; empty range
};

inline absl::string_view TextOf(const Token& token, const SourceFile& file) {
  return file.text().substr(token.begin, token.end - token.begin);
}
inline bool Touches(const Token& left, const Token& right) { return left.end == right.begin; }

// Tokens of one file in order; the last is kEnd.
struct LexedFile {
  std::vector<Token> tokens;
  std::vector<Token> comments;
  std::vector<int> errors;           // offsets where a lexical error was reported, ascending
  bool unterminated_string = false;  // it has swallowed what follows, brackets included
};

// True if a lexical error was reported at an offset in [begin, end].
inline bool HasErrorIn(const LexedFile& lexed, int begin, int end) {
  const auto error = std::lower_bound(lexed.errors.begin(), lexed.errors.end(), begin);
  return error != lexed.errors.end() && *error <= end;
}

}  // namespace sail::frontend
