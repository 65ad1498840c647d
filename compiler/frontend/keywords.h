// The words of the language, from the generated lexer: for editors, completion and `sailc schema`.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace sail {

std::vector<std::string> ReservedWords();  // never names; sorted
std::vector<std::string> SoftWords();      // names, except where a statement gives them a meaning; sorted

namespace frontend {

// The type of the token `text`, that of a name for what is no word of the language.
int TypeOfWord(absl::string_view text);

}  // namespace frontend
}  // namespace sail
