// `# allow(0407): reason`, on the line above a warning or at the end of its line: the warning is not shown. The reason
// is mandatory. Comments are found in the source text, so that every phase, and no phase, has to know about them.
#pragma once

#include <map>
#include <set>

#include "compiler/base/diagnostic.h"
#include "compiler/base/source.h"

namespace sail::driver {

class AllowComments {
 public:
  // Reads the comments of every file of `sources`; those that allow nothing are reported to `sink` (SAIL0121). Linear.
  AllowComments(const SourceManager& sources, DiagnosticSink& sink);

  // Whether a comment allows `diagnostic` at the line where its primary label begins. Errors never are.
  bool Allow(const Diagnostic& diagnostic, const SourceManager& sources) const;

 private:
  struct Line {
    SourceId file;
    int number = 0;
    friend auto operator<=>(const Line&, const Line&) = default;
  };
  void ReadFile(SourceId id, const SourceFile& file, DiagnosticSink& sink);

  std::map<Line, std::set<DiagnosticCode>> allowed_;
};

}  // namespace sail::driver
