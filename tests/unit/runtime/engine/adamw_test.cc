#include "runtime/engine/adamw.h"

#include <cmath>
#include <vector>

#include "compiler/base/rng.h"
#include "gtest/gtest.h"

namespace sail::rt {
namespace {

constexpr ir::AdamW kOptions{.learning_rate = 0.1, .beta1 = 0.5, .beta2 = 0.75, .epsilon = 0.25, .weight_decay = 0.5};

TEST(AdamW, TwoUpdatesByHand) {
  // Update 1, g = 2:  m = 1, v = 1; corrected m/0.5 = 2, v/0.25 = 4; step 0.1 · 2 / (2 + 0.25) = 0.0888…
  //   value = 3·(1 - 0.05) - 0.0888… = 2.7611…
  // Update 2, g = -2: m = 0.5 - 1 = -0.5, v = 0.75 + 1 = 1.75; corrected -0.5/0.75 = -2/3, 1.75/0.4375 = 4;
  //   value = 2.7611…·0.95 + 0.1 · (2/3) / 2.25 = 2.62305… + 0.02963…
  double value = 3, first = 0, second = 0, gradient = 2;
  AdamWUpdate<double>(kOptions, /*decays=*/true, 1, 1, &gradient, &value, &first, &second);
  const double after_one = 3 * 0.95 - 0.2 / 2.25;
  EXPECT_NEAR(value, after_one, 1e-15);
  gradient = -2;
  AdamWUpdate<double>(kOptions, /*decays=*/true, 2, 1, &gradient, &value, &first, &second);
  EXPECT_NEAR(value, after_one * 0.95 + 0.2 / 3 / 2.25, 1e-15);
  EXPECT_DOUBLE_EQ(first, -0.5);
  EXPECT_DOUBLE_EQ(second, 1.75);
}

TEST(AdamW, WithoutDecayTheValueIsNotScaled) {
  double value = 3, first = 0, second = 0, gradient = 0;
  AdamWUpdate<double>(kOptions, /*decays=*/false, 1, 1, &gradient, &value, &first, &second);
  EXPECT_EQ(value, 3);
}

TEST(AdamW, TheBitsOfAnElementDoNotDependOnItsPlace) {
  // An array updated at once, and the same array in pieces that begin anywhere.
  constexpr int kCount = 103;
  Rng rng(1);
  std::vector<float> gradient(kCount), value(kCount), first(kCount, 0), second(kCount, 0);
  for (int i = 0; i < kCount; ++i) {
    gradient[i] = static_cast<float>(rng.Uniform() - 0.5);
    value[i] = static_cast<float>(rng.Uniform());
  }
  for (const int cut : {1, 3, 16, 50}) {
    std::vector<float> a = value, m = first, v = second, b = value, n = first, w = second;
    for (int update = 1; update <= 5; ++update) {
      AdamWUpdate(kOptions, true, update, kCount, gradient.data(), a.data(), m.data(), v.data());
      AdamWUpdate(kOptions, true, update, cut, gradient.data(), b.data(), n.data(), w.data());
      AdamWUpdate(kOptions, true, update, kCount - cut, gradient.data() + cut, b.data() + cut, n.data() + cut,
                  w.data() + cut);
    }
    EXPECT_EQ(a, b) << "cut at " << cut;
  }
}

}  // namespace
}  // namespace sail::rt
