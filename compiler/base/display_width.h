// How text looks in a terminal: UTF-8 decoding, cells per code point, and replacement of what must not be printed.
// Independent of the locale.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace sail {

// The code point at `text[offset]` and its length in bytes. Malformed UTF-8: {0xFFFD, 1, false}.
struct CodePoint {
  uint32_t value = 0;
  int bytes = 1;
  bool valid = true;
};
CodePoint DecodeUtf8(absl::string_view text, size_t offset);

// The UTF-8 form of `value`, which must be a Unicode scalar value.
std::string EncodeUtf8(uint32_t value);

// Control characters (except tab and line ends) and bidirectional formatting characters: never printed raw, never
// allowed in a source text. U+FEFF counts.
bool IsForbiddenCharacter(uint32_t value);

// "U+202E"
std::string CodePointName(uint32_t value);

// Cells a terminal uses: 0 for combining marks and joiners, 2 for wide characters (CJK, emoji), else 1.
int CellWidth(uint32_t value);

// `text` as it may be printed: tabs are four blanks, forbidden characters and malformed bytes are U+FFFD. Line ends
// are kept.
std::string Printable(absl::string_view text);

}  // namespace sail
