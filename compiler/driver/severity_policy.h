// Which warnings are shown, and which of them are errors: --deny, --allow and `# allow(…)` comments.
#pragma once

#include <set>

#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"

namespace sail::driver {

struct SeverityPolicy {
  bool deny_warnings = false;  // --deny W: every warning that is not in `allow`
  std::set<DiagnosticCode> deny;
  std::set<DiagnosticCode> allow;  // warnings only
};

// `sink` under the policy: allowed warnings are gone, denied ones are errors. A comment in the source wins over --deny:
// it gives its reason. Malformed comments are added as SAIL0121. Applying the policy again changes nothing.
DiagnosticSink ApplyPolicy(const DiagnosticSink& sink, const SourceManager& sources, const SeverityPolicy& policy);

}  // namespace sail::driver
