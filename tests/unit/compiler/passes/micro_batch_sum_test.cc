#include <string>
#include <vector>

#include "compiler/base/rng.h"
#include "compiler/passes/lower_job.h"
#include "gtest/gtest.h"

namespace sail {
namespace {

// Straight from the definition: reachable[t] if t is a part, or a reachable sum plus a part.
bool IsSumByTable(int64_t total, const std::vector<int>& parts) {
  std::vector<bool> reachable(total + 1, false);
  reachable[0] = true;
  for (int64_t t = 1; t <= total; ++t) {
    for (const int part : parts) {
      if (part <= t && reachable[t - part]) reachable[t] = true;
    }
  }
  return reachable[total];
}

TEST(IsSumOf, AgreesWithTheDefinition) {
  Rng rng(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<int> parts;
    int part = 0;
    for (int64_t count = 1 + rng.Below(3); count > 0; --count) {
      part += 1 + static_cast<int>(rng.Below(12));
      parts.push_back(part);
    }
    const int64_t total = 1 + rng.Below(120);
    EXPECT_EQ(IsSumOf(total, parts), IsSumByTable(total, parts)) << "round " << round << " total " << total;
  }
}

TEST(IsSumOf, LargeBatchesNeedNoTable) {
  EXPECT_TRUE(IsSumOf(1'000'000'000, {3, 5}));
  EXPECT_FALSE(IsSumOf(999'999'999, {2, 4}));
  EXPECT_FALSE(IsSumOf(7, {3, 5}));  // 3+3 = 6, 3+5 = 8
}

}  // namespace
}  // namespace sail
