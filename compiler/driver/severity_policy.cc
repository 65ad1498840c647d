#include "compiler/driver/severity_policy.h"

#include "compiler/driver/allow_comments.h"

namespace sail::driver {

DiagnosticSink ApplyPolicy(const DiagnosticSink& sink, const SourceManager& sources, const SeverityPolicy& policy) {
  DiagnosticSink all = sink;
  const AllowComments comments(sources, all);
  DiagnosticSink shown;
  for (Diagnostic diagnostic : all.diagnostics()) {
    if (policy.allow.count(diagnostic.code) > 0 || comments.Allow(diagnostic, sources)) continue;
    const bool denied = policy.deny_warnings || policy.deny.count(diagnostic.code) > 0;
    if (denied && SeverityOf(diagnostic) == Severity::kWarning) {
      diagnostic.denied = true;
      diagnostic.notes.push_back("a warning that --deny makes an error");
    }
    shown.Report(std::move(diagnostic));
  }
  return shown;
}

}  // namespace sail::driver
