// The words of the language, from the generated lexer: for editors, completion and `sailc schema`.
#pragma once

#include <string>
#include <vector>

namespace sail {

std::vector<std::string> ReservedWords();  // never names; sorted
std::vector<std::string> SoftWords();      // names, except where a statement gives them a meaning; sorted

}  // namespace sail
