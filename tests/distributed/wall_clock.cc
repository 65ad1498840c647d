// Replaces the wall clock of the program that this file is linked into, LibTorch included; the monotonic clock stays.
// SAIL_WALL_CLOCK is "SKEW JUMP FILE", the first two in seconds: the processes of node slow-0 (its agent and rank 1)
// are SKEW ahead of the others, and JUMP further once the file exists.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

struct Shift {
  double skew = 0;
  double jump = 0;
  char file[1024] = "";
};

bool IsOnSlowNode() {
  char words[4096];
  const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t size = read(fd, words, sizeof(words) - 1);
  close(fd);
  for (ssize_t i = 0; i < size; ++i) {
    if (words[i] == '\0') words[i] = ' ';
  }
  words[size > 0 ? size : 0] = '\0';
  return std::strstr(words, " --node slow-0 ") != nullptr || std::strstr(words, " --rank 1 ") != nullptr;
}

Shift ReadShift() {
  Shift shift;
  const char* text = std::getenv("SAIL_WALL_CLOCK");
  if (text == nullptr || !IsOnSlowNode()) return {};
  return std::sscanf(text, "%lf %lf %1023s", &shift.skew, &shift.jump, shift.file) == 3 ? shift : Shift();
}

// Seconds that this process's wall clock is ahead.
double Ahead() {
  static const Shift shift = ReadShift();
  if (shift.file[0] == '\0') return 0;
  return shift.skew + (access(shift.file, F_OK) == 0 ? shift.jump : 0);
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long result = syscall(SYS_clock_gettime, clock, now);
  if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return static_cast<int>(result);
  const double ahead = Ahead();
  const auto nanoseconds = static_cast<long long>(ahead * 1e9) + now->tv_nsec;
  constexpr long long kSecond = 1'000'000'000;
  const long long whole = nanoseconds >= 0 ? nanoseconds / kSecond : -((-nanoseconds + kSecond - 1) / kSecond);
  now->tv_sec += whole;
  now->tv_nsec = static_cast<long>(nanoseconds - whole * kSecond);
  return 0;
}

extern "C" int gettimeofday(timeval* now, void*) noexcept {
  timespec precise = {};
  clock_gettime(CLOCK_REALTIME, &precise);
  *now = {.tv_sec = precise.tv_sec, .tv_usec = precise.tv_nsec / 1000};
  return 0;
}

extern "C" time_t time(time_t* now) noexcept {
  timespec precise = {};
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now != nullptr) *now = precise.tv_sec;
  return precise.tv_sec;
}
