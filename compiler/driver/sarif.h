// Diagnostics as one SARIF 2.1.0 log, the format that code hosts read alerts from.
//
// A result's ruleId is the code; rules carry the title and the text of `sailc explain`. Columns count code points.
// Locations are relative URIs, as the files were named on the command line. A fingerprint is a hash of the code and the
// text of its line without the blanks, numbered among equals, so that an alert follows its line when it moves.
// Errors without a place in a file are notifications of the invocation.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/base/json.h"
#include "compiler/base/source.h"
#include "compiler/driver/exit_code.h"

namespace sail::driver {

class SarifLog {
 public:
  // All of them: a result that is missing would close its alert.
  void Add(const std::vector<Diagnostic>& sorted, const SourceManager& sources);
  void AddError(absl::string_view message);
  // The document, with a final newline.
  std::string Finish(ExitCode code) const;

 private:
  std::string Fingerprint(const Diagnostic& diagnostic, const SourceManager& sources);

  Json results_ = Json::array();
  Json notifications_ = Json::array();
  std::set<DiagnosticCode> rules_;
  std::map<std::string, int> seen_;  // how often each hash occurred
};

}  // namespace sail::driver
