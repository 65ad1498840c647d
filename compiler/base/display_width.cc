#include "compiler/base/display_width.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sail {
namespace {

struct Interval {
  uint32_t first, last;
};

// Unicode 15: general category Mn/Me and format characters that take no cell, in the scripts seen in practice.
constexpr Interval kZeroWidth[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x05BF, 0x05BF}, {0x05C1, 0x05C2},   {0x0610, 0x061A},
    {0x064B, 0x065F}, {0x0670, 0x0670}, {0x06D6, 0x06DC}, {0x0711, 0x0711}, {0x0730, 0x074A},   {0x0900, 0x0902},
    {0x093C, 0x093C}, {0x0941, 0x0948}, {0x094D, 0x094D}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},   {0x0E47, 0x0E4E},
    {0x1160, 0x11FF}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200D}, {0x2060, 0x2064},   {0x20D0, 0x20F0},
    {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
};

// Unicode 15: East Asian Width W and F, which includes the emoji presented as pictures.
constexpr Interval kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x23F0, 0x23F0},
    {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
    {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},
    {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
    {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27B0, 0x27B0},   {0x27BF, 0x27BF},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},
    {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97C},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x16FE0, 0x18AFF}, {0x1B000, 0x1B2FF}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF},
    {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C},
    {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4},
    {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E},
    {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F},
    {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC}, {0x1F6D0, 0x1F6D2}, {0x1F6D5, 0x1F6D7}, {0x1F6DC, 0x1F6DF},
    {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7EB}, {0x1F7F0, 0x1F7F0}, {0x1F90C, 0x1F93A},
    {0x1F93C, 0x1F945}, {0x1F947, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};

template <size_t N>
bool Contains(const Interval (&table)[N], uint32_t value) {
  const Interval* found = std::upper_bound(std::begin(table), std::end(table), value,
                                           [](uint32_t v, const Interval& interval) { return v < interval.first; });
  return found != std::begin(table) && value <= (found - 1)->last;
}

}  // namespace

CodePoint DecodeUtf8(absl::string_view text, size_t offset) {
  constexpr CodePoint kMalformed{.value = 0xFFFD, .bytes = 1, .valid = false};
  const auto byte = [text](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t first = byte(offset);
  if (first < 0x80) return {.value = first};
  const int bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || offset + bytes > text.size()) return kMalformed;
  uint32_t value = first & (0x7F >> bytes);
  for (int i = 1; i < bytes; ++i) {
    if ((byte(offset + i) & 0xC0) != 0x80) return kMalformed;
    value = value << 6 | (byte(offset + i) & 0x3F);
  }
  const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return kMalformed;
  return {.value = value, .bytes = bytes};
}

std::string EncodeUtf8(uint32_t value) {
  const auto tail = [value](int shift) { return static_cast<char>(0x80 | ((value >> shift) & 0x3F)); };
  if (value < 0x80) return std::string(1, static_cast<char>(value));
  if (value < 0x800) return {static_cast<char>(0xC0 | value >> 6), tail(0)};
  if (value < 0x10000) return {static_cast<char>(0xE0 | value >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | value >> 18), tail(12), tail(6), tail(0)};
}

bool IsForbiddenCharacter(uint32_t value) {
  if (value < 0x20) return value != '\t' && value != '\n' && value != '\r';
  if (value < 0x7F) return false;
  const bool control = value <= 0x9F || value == 0x2028 || value == 0x2029;
  const bool bidirectional = value == 0x061C || value == 0x200E || value == 0x200F ||
                             (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069);
  return control || bidirectional || value == 0xFEFF;
}

std::string CodePointName(uint32_t value) { return absl::StrFormat("U+%04X", value); }

int CellWidth(uint32_t value) {
  if (value < 0x300) return 1;
  if (Contains(kZeroWidth, value)) return 0;
  return Contains(kWide, value) ? 2 : 1;
}

std::string Printable(absl::string_view text) {
  std::string printable;
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = DecodeUtf8(text, i);
    if (c.value == '\t') {
      printable += "    ";
    } else if (!c.valid || c.value == '\r' || IsForbiddenCharacter(c.value)) {
      printable += EncodeUtf8(0xFFFD);
    } else {
      absl::StrAppend(&printable, text.substr(i, c.bytes));
    }
    i += c.bytes;
  }
  return printable;
}

}  // namespace sail
