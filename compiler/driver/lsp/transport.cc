#include "compiler/driver/lsp/transport.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/base/status_macros.h"

namespace sail::lsp {
namespace {

absl::StatusOr<int64_t> LengthIn(absl::string_view header) {
  std::optional<int64_t> length;
  for (const absl::string_view line : absl::StrSplit(header, "\r\n", absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> field = absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(field.first), "Content-Length")) continue;
    int64_t value = 0;
    if (length.has_value() || !absl::SimpleAtoi(field.second, &value) || value < 0) {
      return absl::InvalidArgumentError("Content-Length is not one whole number");
    }
    length = value;
  }
  if (!length.has_value()) return absl::InvalidArgumentError("the header has no Content-Length");
  if (*length > kLargestMessage) {
    return absl::InvalidArgumentError(absl::StrCat("the message is larger than ", kLargestMessage, " bytes"));
  }
  return *length;
}

}  // namespace

absl::StatusOr<std::optional<std::string>> Transport::ReadHeader() {
  std::string header;
  while (!absl::EndsWith(header, "\r\n\r\n")) {
    const int c = in_.get();
    if (c == std::istream::traits_type::eof()) {
      if (header.empty()) return std::nullopt;
      return absl::InvalidArgumentError("the input ends inside a header");
    }
    header.push_back(static_cast<char>(c));
    if (header.size() > kLargestHeader) return absl::InvalidArgumentError("the header is too long");
  }
  return header;
}

absl::StatusOr<std::optional<std::string>> Transport::Read() {
  SAIL_ASSIGN_OR_RETURN(const std::optional<std::string> header, ReadHeader());
  if (!header.has_value()) return std::nullopt;
  SAIL_ASSIGN_OR_RETURN(const int64_t length, LengthIn(*header));
  std::string body(static_cast<size_t>(length), '\0');
  in_.read(body.data(), length);
  if (in_.gcount() != length) return absl::InvalidArgumentError("the input ends inside a message");
  return body;
}

void Transport::Write(const Json& message) {
  const std::string body = message.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
  out_ << "Content-Length: " << body.size() << "\r\n\r\n" << body;
  out_.flush();
}

}  // namespace sail::lsp
