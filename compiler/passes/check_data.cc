// Training texts.
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/number_text.h"
#include "compiler/passes/lower_job.h"
#include "compiler/passes/pipeline.h"

namespace sail {
namespace {

constexpr int64_t kByteValues = 256;  // token = byte value

// Offset of the first byte that is not well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates), or -1.
int64_t FirstInvalidUtf8(absl::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  size_t i = 0;
  while (i < text.size()) {
    const unsigned lead = byte(i);
    const int length = lead < 0x80                   ? 1
                       : lead >= 0xc2 && lead < 0xe0 ? 2
                       : lead >= 0xe0 && lead < 0xf0 ? 3
                       : lead >= 0xf0 && lead < 0xf5 ? 4
                                                     : 0;
    if (length == 0) return static_cast<int64_t>(i);
    for (int k = 1; k < length; ++k) {
      unsigned low = 0x80, high = 0xbf;
      if (k == 1 && lead == 0xe0) low = 0xa0;
      if (k == 1 && lead == 0xed) high = 0x9f;
      if (k == 1 && lead == 0xf0) low = 0x90;
      if (k == 1 && lead == 0xf4) high = 0x8f;
      if (byte(i + k) < low || byte(i + k) > high) return static_cast<int64_t>(i);
    }
    i += length;
  }
  return -1;
}

}  // namespace

void CheckData(const CheckedBlock& block, const ir::Job& job, const ir::Model& model, const ModuleSet& modules,
               const FileSystem& files, DiagnosticSink& sink) {
  if (!job.data) return;
  const CheckedBlock& data = *block.Child("data");
  const auto report = [&](SourceRange range, std::string message, std::vector<std::string> notes = {}) {
    sink.Report({.code = DiagnosticCode::kDataFile,
                 .message = std::move(message),
                 .primary = {range, ""},
                 .secondary = {},
                 .notes = std::move(notes),
                 .helps = {}});
  };
  if (model.vocab < kByteValues) {
    report(data.RangeOf("text"), absl::StrCat("text is read as bytes, ", kByteValues, " different tokens, but `",
                                              model.name, "` has a vocabulary of ", model.vocab));
    return;
  }
  int64_t total = 0;
  const auto& texts = std::get<ListValue>(data.Get("text").content).elements;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string& written = job.data->text[i];
    const auto contents = files.Read(JoinPath(modules.base_directory, written), kMaxTextBytes);
    if (!contents.ok()) {
      report(texts[i].range, absl::StrCat("cannot read `", written, "`"), {std::string(contents.status().message())});
      return;
    }
    const int64_t invalid = FirstInvalidUtf8(*contents);
    if (invalid >= 0) {
      report(texts[i].range, absl::StrCat("`", written, "` is not UTF-8 text: byte ", invalid));
      return;
    }
    total += static_cast<int64_t>(contents->size());
  }
  if (total < model.seq_len + 1) {
    report(data.RangeOf("text"), absl::StrCat("the text has ", CountText(total, "byte"), " but one sample of `",
                                              model.name, "` needs ", model.seq_len + 1));
  }
}

}  // namespace sail
