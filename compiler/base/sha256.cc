#include "compiler/base/sha256.h"

#include <openssl/evp.h>

#include "absl/strings/escaping.h"
#include "compiler/base/check.h"

namespace sail {

std::string Sha256Hex(absl::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  SAIL_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) == 1);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

}  // namespace sail
