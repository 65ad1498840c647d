#include "compiler/frontend/text_checks.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/display_width.h"

namespace sail::frontend {

bool CheckText(const SourceFile& file, SourceId id, const ParseLimits& limits, DiagnosticSink& sink) {
  const absl::string_view text = file.text();
  if (static_cast<int64_t>(text.size()) > limits.max_bytes) {
    sink.Report(
        {.code = DiagnosticCode::kTooLarge,
         .message = absl::StrCat("the file has ", text.size(), " bytes; at most ", limits.max_bytes, " are accepted"),
         .primary = {.range = {id, 0, 0}}});
    return false;
  }
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = DecodeUtf8(text, i);
    if (!c.valid) {
      const int begin = static_cast<int>(i);
      sink.Report({.code = DiagnosticCode::kInvalidUtf8,
                   .message = absl::StrFormat("the file is not valid UTF-8: byte 0x%02X at offset %d",
                                              static_cast<unsigned char>(text[i]), begin),
                   .primary = {.range = {id, begin, begin + 1}},
                   .helps = {"save the file as UTF-8"}});
      return false;
    }
    i += c.bytes;
  }
  return true;
}

}  // namespace sail::frontend
