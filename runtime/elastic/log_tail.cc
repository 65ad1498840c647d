#include "runtime/elastic/log_tail.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace sail::rt {

std::string LogTail(const std::string& path) {
  constexpr std::streamoff kBytes = 2000;
  constexpr size_t kLines = 8;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : 0;
  file.seekg(std::max<std::streamoff>(0, size - kBytes));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  if (size > kBytes && lines.size() > 1) lines.erase(lines.begin());  // cut in the middle
  if (lines.size() > kLines) lines.erase(lines.begin(), lines.end() - kLines);
  return absl::StrJoin(lines, "\n");
}

}  // namespace sail::rt
