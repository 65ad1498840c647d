// Diagnostics as workflow commands of GitHub Actions: `::error file=…,line=…,col=…,title=SAIL0204::message`.
#pragma once

#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"

namespace sail::driver {

class GithubAnnotations {
 public:
  // GitHub shows this many of each severity per step; the rest is counted.
  static constexpr int kMaxPerSeverity = 10;

  // The lines to print for `sorted`.
  std::string Add(const std::vector<Diagnostic>& sorted, const SourceManager& sources);
  std::string AddError(absl::string_view message);
  // One line about what was left out, or nothing.
  std::string Finish() const;

 private:
  // Whether one more of this severity is shown.
  bool Count(Severity severity);

  int errors_ = 0;
  int warnings_ = 0;
};

}  // namespace sail::driver
