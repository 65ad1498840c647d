// SAIL_CHECK(condition) << "values": for bugs of ours only. A failed check prints and ends the process with exit
// code 70; it is never used for what a user or the environment can cause (see CONTRIBUTING.md, "Errors").
#pragma once

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

namespace sail::internal {

class CheckFailure {
 public:
  CheckFailure(const char* condition, const char* file, int line) {
    stream_ << "internal error: " << condition << " at " << file << ":" << line << " ";
  }
  [[noreturn]] ~CheckFailure() {
    const std::string text = stream_.str();
    std::fprintf(stderr, "%s\n", text.c_str());
    std::fflush(nullptr);
    std::_Exit(70);
  }
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

}  // namespace sail::internal

#define SAIL_CHECK(condition) \
  if (condition) {            \
  } else                      \
    ::sail::internal::CheckFailure(#condition, __FILE_NAME__, __LINE__).stream()

// GCC 12 has no __FILE_NAME__: keep machine paths out of messages all the same.
#ifndef __FILE_NAME__
#define __FILE_NAME__ (__builtin_strrchr(__FILE__, '/') ? __builtin_strrchr(__FILE__, '/') + 1 : __FILE__)
#endif
