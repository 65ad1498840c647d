#include "compiler/base/number_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sail {

std::string FourDigits(double value) {
  if (value == 0 || !std::isfinite(value)) return absl::StrFormat("%g", value);
  const int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  const int decimals = std::max(0, 3 - exponent);
  std::string text = absl::StrFormat("%.*f", decimals, value);
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string CountText(int64_t count, absl::string_view singular) {
  return absl::StrCat(count, " ", singular, count == 1 ? "" : "s");
}

}  // namespace sail
