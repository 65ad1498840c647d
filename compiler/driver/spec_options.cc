#include "compiler/driver/spec_options.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"

namespace sail::driver {
namespace {

constexpr char kAllWarnings[] = "W";

bool IsName(absl::string_view text) {
  const auto in_name = [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return !text.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), in_name);
}

template <class... Parts>
absl::Status Wrong(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status ReadDefinitions(const OptionTable& table, SpecInputs& inputs) {
  std::set<std::string> names;
  for (const std::string& definition : table.definitions) {
    const size_t equals = definition.find('=');
    const std::string name = definition.substr(0, equals);
    if (equals == std::string::npos || !IsName(name)) {
      return Wrong("-D expects name=value, found '", definition, "'");
    }
    if (equals + 1 == definition.size()) return Wrong("-D gives '", name, "' no value");
    if (!names.insert(name).second) return Wrong("-D gives '", name, "' a value twice");
    inputs.definitions.push_back(definition);
  }
  return absl::OkStatus();
}

absl::Status ReadAllowed(const OptionTable& table, SeverityPolicy& policy) {
  for (const std::string& word : table.allow) {
    const std::optional<DiagnosticCode> code = ParseCode(word);
    if (!code.has_value()) return Wrong("--allow: ", UnknownCodeMessage(word));
    if (SeverityOf(*code) == Severity::kError) {
      return Wrong("--allow: ", CodeText(*code), " is an error, only warnings can be allowed");
    }
    policy.allow.insert(*code);
  }
  return absl::OkStatus();
}

absl::Status ReadDenied(const OptionTable& table, SeverityPolicy& policy) {
  for (const std::string& word : table.deny) {
    if (word == kAllWarnings) {
      policy.deny_warnings = true;
      continue;
    }
    const std::optional<DiagnosticCode> code = ParseCode(word);
    if (!code.has_value()) return Wrong("--deny: ", UnknownCodeMessage(word), "");
    if (policy.allow.count(*code) > 0) return Wrong("--allow and --deny both name ", CodeText(*code));
    policy.deny.insert(*code);
  }
  return absl::OkStatus();
}

}  // namespace

bool IsDay(absl::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  int parts[3];
  const absl::string_view fields[3] = {text.substr(0, 4), text.substr(5, 2), text.substr(8, 2)};
  for (int i = 0; i < 3; ++i) {
    const bool digits = std::all_of(fields[i].begin(), fields[i].end(), absl::ascii_isdigit);
    if (!digits || !absl::SimpleAtoi(fields[i], &parts[i])) return false;
  }
  const std::chrono::year_month_day day{std::chrono::year(parts[0]), std::chrono::month(parts[1]),
                                        std::chrono::day(parts[2])};
  return parts[0] > 0 && day.ok();
}

absl::StatusOr<SpecOptions> ReadSpecOptions(const OptionTable& table) {
  SpecOptions options;
  SAIL_RETURN_IF_ERROR(ReadDefinitions(table, options.inputs));
  SAIL_RETURN_IF_ERROR(ReadAllowed(table, options.policy));
  SAIL_RETURN_IF_ERROR(ReadDenied(table, options.policy));
  options.inputs.params_file = table.params;
  if (table.today.getNumOccurrences() > 0) {
    if (!IsDay(table.today))
      return Wrong("--today expects a day such as 2026-11-30, found '", table.today.getValue(), "'");
    options.inputs.today = table.today;
  }
  return options;
}

}  // namespace sail::driver
