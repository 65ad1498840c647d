// Numbers as people read them. Artefacts never use these.
#pragma once

#include <string>

namespace sail {

// Four significant digits without an exponent: 0.2122, 13.05, 1664, 45000.
std::string FourDigits(double value);

}  // namespace sail
