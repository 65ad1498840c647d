#include "simulator/time_queue.h"

#include <map>

#include "gtest/gtest.h"

namespace sail::sim {
namespace {

TEST(TimeQueue, GivesThingsByTimeAndThoseOfOneMomentInOrder) {
  TimeQueue<int> queue;
  queue.Push(2, 20);
  queue.Push(1, 10);
  queue.Push(2, 21);
  queue.Push(1, 11);
  EXPECT_EQ(queue.time(), 1);
  EXPECT_EQ(queue.front(), 10);
  queue.Pop();
  queue.Push(1, 12);  // to a moment that has begun
  for (const int expected : {11, 12, 20, 21}) {
    EXPECT_EQ(queue.front(), expected);
    queue.Pop();
  }
  EXPECT_TRUE(queue.empty());
  queue.Push(2, 22);  // a moment that was over
  EXPECT_EQ(queue.front(), 22);
}

// More moments than it remembers: each thing comes out once, in order of time.
TEST(TimeQueue, HoldsAnyNumberOfMoments) {
  TimeQueue<int> queue;
  std::multimap<double, int> expected;
  unsigned state = 1;
  for (int i = 0; i < 5000; ++i) {
    state = state * 1664525 + 1013904223;
    const double time = (state >> 16) % 700 / 7.0;
    queue.Push(time, i);
    expected.emplace(time, i);
    if (i % 3 != 2) continue;
    ASSERT_EQ(queue.time(), expected.begin()->first);
    const auto [first, last] = expected.equal_range(queue.time());
    auto it = first;
    while (it != last && it->second != queue.front()) ++it;
    ASSERT_NE(it, last) << "not in it, or no more";
    expected.erase(it);
    queue.Pop();
  }
  for (; !expected.empty(); expected.erase(expected.begin())) {
    ASSERT_EQ(queue.time(), expected.begin()->first);
    queue.Pop();
  }
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace sail::sim
