// What happens when, in order of time. Equal pipelines do the same things at the same moments, so things of one moment
// are kept together, and the heap holds moments.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace sail::sim {

template <class T>
class TimeQueue {
 public:
  bool empty() const { return heap_.empty(); }
  // Of the first; requires !empty().
  double time() const { return heap_.top().first; }
  const T& front() const { return things_[moments_[heap_.top().second].first].what; }

  // Things of one moment mostly come out in the order in which they went in; which is the same in every run.
  void Push(double time, const T& what) {
    const int thing = NewThing(what);
    int& recent = recent_[(std::bit_cast<uint64_t>(time) * 0x9E3779B97F4A7C15) >> (64 - kRecentBits)];
    if (recent >= 0 && moments_[recent].time == time && moments_[recent].first >= 0) {
      things_[moments_[recent].last].next = thing;
      moments_[recent].last = thing;
      return;
    }
    recent = static_cast<int>(moments_.size());
    moments_.push_back({.time = time, .first = thing, .last = thing});
    heap_.push({time, recent});
  }

  void Pop() {
    Moment& moment = moments_[heap_.top().second];
    const int thing = moment.first;
    moment.first = things_[thing].next;
    things_[thing].next = unused_;
    unused_ = thing;
    if (moment.first < 0) heap_.pop();
  }

 private:
  struct Thing {
    T what;
    int next = -1;
  };
  struct Moment {
    double time = 0;
    int first = -1;  // of things_; -1: all have been taken
    int last = -1;
  };

  int NewThing(const T& what) {
    if (unused_ < 0) {
      things_.push_back({.what = what});
      return static_cast<int>(things_.size()) - 1;
    }
    const int thing = std::exchange(unused_, things_[unused_].next);
    things_[thing] = {.what = what};
    return thing;
  }

  using Entry = std::pair<double, int>;  // time, and the index of the moment
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> heap_;
  std::vector<Moment> moments_;
  std::vector<Thing> things_;
  int unused_ = -1;  // the first of a list in things_
  static constexpr int kRecentBits = 6;
  std::array<int, 1 << kRecentBits> recent_ = MakeRecent();  // by hash of the time: the last moment, or -1

  static constexpr std::array<int, 1 << kRecentBits> MakeRecent() {
    std::array<int, 1 << kRecentBits> recent{};
    recent.fill(-1);
    return recent;
  }
};

}  // namespace sail::sim
