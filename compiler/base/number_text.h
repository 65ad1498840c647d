// Numbers as people read them. Artefacts never use these.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace sail {

// Four significant digits without an exponent: 0.2122, 13.05, 1664, 45000.
std::string FourDigits(double value);

// "1 node", "2 nodes".
std::string CountText(int64_t count, absl::string_view singular);

}  // namespace sail
