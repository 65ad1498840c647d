// The base protocol: "Content-Length: N\r\n", a blank line, N bytes of JSON. One message at a time, no threads.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/base/json.h"

namespace sail::lsp {

inline constexpr int64_t kLargestMessage = 64 << 20;  // bytes; an editor sends whole files
inline constexpr int kLargestHeader = 4096;           // bytes of all header lines together

class Transport {
 public:
  // Both must outlive the transport.
  Transport(std::istream& in, std::ostream& out) : in_(in), out_(out) {}

  // The body of the next message; nullopt when the input ends between two messages. InvalidArgument for a broken frame:
  // where the next one begins is then unknown, so that nothing more can be read.
  absl::StatusOr<std::optional<std::string>> Read();

  // Whether the other end is still there shows at the next Read.
  void Write(const Json& message);

 private:
  // The header lines up to the blank line; nullopt at the end of the input.
  absl::StatusOr<std::optional<std::string>> ReadHeader();

  std::istream& in_;
  std::ostream& out_;
};

}  // namespace sail::lsp
