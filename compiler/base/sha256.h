// SHA-256 (OpenSSL) as 64 lower-case hexadecimal digits. Used for plan and bundle hashes.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace sail {

std::string Sha256Hex(absl::string_view bytes);

}  // namespace sail
