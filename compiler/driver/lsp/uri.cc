#include "compiler/driver/lsp/uri.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "compiler/base/file_system.h"

namespace sail::lsp {
namespace {

bool IsEscape(absl::string_view text) {
  return text.size() >= 3 && text[0] == '%' && absl::ascii_isxdigit(text[1]) && absl::ascii_isxdigit(text[2]);
}

}  // namespace

std::string PathOfUri(absl::string_view uri) {
  absl::string_view rest = uri;
  if (!absl::ConsumePrefix(&rest, "file://")) return std::string(uri);
  absl::ConsumePrefix(&rest, "localhost");
  if (rest.empty() || rest[0] != '/') return std::string(uri);
  std::string path;
  while (!rest.empty()) {
    const bool escaped = IsEscape(rest);
    path += escaped ? absl::HexStringToBytes(rest.substr(1, 2)) : std::string(rest.substr(0, 1));
    rest.remove_prefix(escaped ? 3 : 1);
  }
  return JoinPath("", path);
}

std::string UriOfPath(absl::string_view path) {
  std::string uri = "file://";
  for (const char c : path) {
    const bool plain = absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                       absl::string_view("/-._~").find(c) != absl::string_view::npos;
    if (plain) {
      uri.push_back(c);
    } else {
      absl::StrAppend(&uri, absl::StrFormat("%%%02X", static_cast<unsigned char>(c)));
    }
  }
  return uri;
}

}  // namespace sail::lsp
