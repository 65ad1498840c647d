#include "stdlib/standard_library.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace sail {
namespace {

std::vector<int> Numbers(absl::string_view version) {
  std::vector<int> numbers;
  for (const absl::string_view part : absl::StrSplit(version, '.')) {
    int number = 0;
    numbers.push_back(absl::SimpleAtoi(part, &number) ? number : 0);
  }
  return numbers;
}

}  // namespace

const StandardFile* FindStandardFile(absl::string_view package, absl::string_view version) {
  for (const StandardFile& file : StandardLibrary()) {
    if (package == file.package && version == file.version) return &file;
  }
  return nullptr;
}

const StandardFile* NewestStandardFile(absl::string_view package) {
  const StandardFile* newest = nullptr;  // the last of the package, as versions ascend
  for (const StandardFile& file : StandardLibrary()) {
    if (package == file.package) newest = &file;
  }
  return newest;
}

bool IsOlderVersion(absl::string_view version, absl::string_view other) { return Numbers(version) < Numbers(other); }

}  // namespace sail
