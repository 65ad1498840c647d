// Early return on a failed absl::Status. Results are named for the value: SAIL_ASSIGN_OR_RETURN(Plan plan, Search(…)).
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace sail {

// "reading bundle 'x': " + the message, same code. OK stays OK.
inline absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(context, ": ", status.message()));
}

}  // namespace sail

#define SAIL_CONCAT_INNER(a, b) a##b
#define SAIL_CONCAT(a, b) SAIL_CONCAT_INNER(a, b)

#define SAIL_RETURN_IF_ERROR(expression)       \
  do {                                         \
    absl::Status sail_status = (expression);   \
    if (!sail_status.ok()) return sail_status; \
  } while (false)

#define SAIL_ASSIGN_OR_RETURN(declaration, expression) \
  SAIL_ASSIGN_OR_RETURN_IMPL(SAIL_CONCAT(sail_result_, __LINE__), declaration, expression)

#define SAIL_ASSIGN_OR_RETURN_IMPL(result, declaration, expression) \
  auto result = (expression);                                       \
  if (!result.ok()) return result.status();                         \
  declaration = *std::move(result)
