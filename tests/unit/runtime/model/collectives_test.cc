// Layers shared by a tensor group against the same function of whole tensors, and cuts of parameters.
#include "runtime/model/collectives.h"

#include <algorithm>

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/full.h"
#include "ATen/ops/log_softmax.h"
#include "ATen/ops/tensor.h"
#include "compiler/base/status_macros.h"
#include "gtest/gtest.h"
#include "runtime/comm/fake_communicator.h"
#include "runtime/model/parameter.h"
#include "tests/support/rank_threads.h"

namespace sail::rt {
namespace {

// Runs `body` on every rank of a tensor group of `degree`; the group is null for a degree of one.
void OnGroup(int degree, const std::function<void(int, Communicator*)>& body) {
  FakeNetwork network(Seconds(20));
  std::vector<ir::Rank> all;
  for (int i = 0; i < degree; ++i) all.push_back(ir::Rank(i));
  const auto results = test::RunRanks(degree, [&](ir::Rank self) -> absl::Status {
    if (degree == 1) {
      body(0, nullptr);
      return absl::OkStatus();
    }
    SAIL_ASSIGN_OR_RETURN(const auto group, network.Connect(all, self));
    body(self.index(), group.get());
    return group->status();
  });
  for (const absl::Status& result : results) EXPECT_TRUE(result.ok()) << result.ToString();
}

// [tokens, words]: deterministic, of both signs, with one huge row that would overflow without its maximum subtracted.
at::Tensor Logits(int64_t tokens, int64_t words) {
  at::Tensor x = (at::arange(tokens * words, at::kDouble) * 12.9898).sin().view({tokens, words}) * 3;
  x[0].add_(5000);
  return x.contiguous();
}

class CrossEntropyTest : public ::testing::TestWithParam<std::tuple<int, int>> {};  // degree, words
INSTANTIATE_TEST_SUITE_P(Degrees, CrossEntropyTest,
                         ::testing::Combine(::testing::Values(1, 2, 4, 8), ::testing::Values(37, 40, 5)));

TEST_P(CrossEntropyTest, EqualsTheWholeVocabulary) {
  const auto [degree, words] = GetParam();
  const int64_t padded = (words + degree - 1) / degree * degree;  // 5 words on 8 ranks: three ranks hold padding alone
  const int64_t columns = padded / degree;
  const at::Tensor targets = at::tensor({0, 4, 2, static_cast<int>(words) - 1, 3, 1}, at::kLong);

  const at::Tensor whole = Logits(6, words).requires_grad_();
  const at::Tensor expected = -at::log_softmax(whole, 1).gather(1, targets.unsqueeze(1)).sum();
  expected.backward(at::full({}, 0.25, at::kDouble));

  OnGroup(degree, [&](int rank, Communicator* group) {
    const int64_t first = rank * columns;
    const int64_t real = std::clamp<int64_t>(words - first, 0, columns);
    // Padding holds what would win every maximum.
    const at::Tensor padding = at::full({6, columns - real}, 1e9, at::kDouble);
    const at::Tensor mine =
        at::cat({Logits(6, words).narrow(1, std::min<int64_t>(first, words), real), padding}, 1).requires_grad_();
    const at::Tensor loss = CrossEntropySum(mine, targets, first, real, group);
    loss.backward(at::full({}, 0.25, at::kDouble));
    EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-10);
    const at::Tensor difference =
        mine.grad().narrow(1, 0, real) - whole.grad().narrow(1, std::min<int64_t>(first, words), real);
    EXPECT_LE(real == 0 ? 0 : difference.abs().max().item<double>(), 1e-15);
    EXPECT_TRUE(mine.grad().narrow(1, real, columns - real).eq(0).all().item<bool>());
  });
}

TEST(Collectives, CopySumsGradientsAndSumCopiesThem) {
  // y = Σ_ranks (rank + 1)·x = 6x on three ranks; dy/dx = 6 on each of them.
  OnGroup(3, [](int rank, Communicator* group) {
    const at::Tensor x = at::full({4}, 2.0, at::kDouble).requires_grad_();
    const at::Tensor y = SumOverGroup(CopyToGroup(x, group) * (rank + 1), group);
    y.sum().backward();
    EXPECT_TRUE(y.eq(12).all().item<bool>());
    EXPECT_TRUE(x.grad().eq(6).all().item<bool>());
  });
}

TEST(Collectives, AFailureInsideAGraphIsKeptInTheGroup) {
  FakeNetwork network(Seconds(20));
  const std::vector<ir::Rank> both{ir::Rank(0), ir::Rank(1)};
  const auto results = test::RunRanks(2, [&](ir::Rank self) -> absl::Status {
    SAIL_ASSIGN_OR_RETURN(const auto group, network.Connect(both, self));
    if (self == ir::Rank(1)) return absl::OkStatus();
    const at::Tensor x = at::full({4}, 2.0, at::kDouble).requires_grad_();
    SumOverGroup(CopyToGroup(x, group.get()), group.get()).sum().backward();
    return group->status();
  });
  EXPECT_TRUE(absl::IsUnavailable(results[0])) << results[0].ToString();
}

TEST(Parameter, CutsTogetherAreTheWhole) {
  const ParameterSpec spec{.name = "w", .shape = {3, 8, 5}, .cut_dim = 1, .initial = Initial::kNormal, .deviation = 1};
  const at::Tensor whole = MakeParameter(spec, 1, 1, 0, 4, at::kDouble).value;
  for (const int degree : {2, 4}) {
    std::vector<at::Tensor> parts;
    for (int rank = 0; rank < degree; ++rank) {
      const Parameter part = MakeParameter(spec, 1, degree, rank, 4, at::kDouble);
      EXPECT_EQ(part.first, rank * 8 / degree);
      parts.push_back(part.value);
    }
    EXPECT_TRUE(at::cat(parts, 1).equal(whole));
  }
}

TEST(Parameter, Vocab250682_8_PadsTo250688) {
  // The case of a vocabulary of 250682 words on 8 ranks: 31336 rows each, the last 6 of rank 7 are padding.
  const ParameterSpec spec{.name = "wte.weight", .shape = {250682, 1}, .cut_dim = 0, .initial = Initial::kOne};
  const Parameter last = MakeParameter(spec, 1, 8, 7, 8, at::kFloat);
  EXPECT_EQ(last.first, 219352);
  ASSERT_EQ(last.value.size(0), 31336);
  EXPECT_TRUE(last.value.slice(0, 0, 31330).eq(1).all().item<bool>());
  EXPECT_TRUE(last.value.slice(0, 31330).eq(0).all().item<bool>());
}

TEST(Parameter, VocabDouble_AnEvenVocabularyIsNotPadded) {
  // 151936 words on 2 ranks are 75968 rows each: padding is to a multiple of the shards, not of their number again.
  const ParameterSpec spec{.name = "wte.weight", .shape = {151936, 1}, .cut_dim = 0, .initial = Initial::kOne};
  EXPECT_EQ(MakeParameter(spec, 1, 2, 1, 2, at::kFloat).value.size(0), 75968);
}

}  // namespace
}  // namespace sail::rt
