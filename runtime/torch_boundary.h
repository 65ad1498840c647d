// LibTorch and c10d report errors by exceptions; everything of ours returns absl::Status. This is the doorway between
// the two, with the only try block.
#pragma once

#include <exception>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace sail::rt {

// Runs `call` and returns its status. What it throws becomes a status of `code`: "`action`: " and the first line of the
// exception's text (the rest is a stack trace of LibTorch).
inline absl::Status CatchTorch(absl::StatusCode code, absl::string_view action,
                               absl::FunctionRef<absl::Status()> call) {
  try {
    return call();
  } catch (const std::exception& error) {
    const absl::string_view text = error.what();
    return absl::Status(code, absl::StrCat(action, ": ", text.substr(0, text.find('\n'))));
  }
}

}  // namespace sail::rt
