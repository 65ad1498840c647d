// What the command line gives to a specification: values of its params, and the day that age lints compare with.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sail {

struct SpecInputs {
  std::vector<std::string> definitions;  // -D: "name=value", each name once; the value is text of the language
  std::string params_file;               // --params: a file of assignments; empty: none
  std::optional<std::string> today;      // --today: "2026-11-30", a day that exists; without it no age lint
};

}  // namespace sail
