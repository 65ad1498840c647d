#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "simulator/import_profile.h"
#include "simulator/profiles.h"
#include "simulator/public_network.h"
#include "tests/support/public_files.h"

namespace sail::sim {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

Json Parsed(absl::string_view text) { return *ParseJson(text, "test"); }

std::string FaultOf(absl::string_view times, absl::string_view memory) {
  const auto model = ReadPublicModel(Parsed(times), Parsed(memory), "m");
  return model.ok() ? "" : std::string(model.status().message());
}

TEST(PublicModel, ReadsUnsortedKeys) {
  const auto model = ReadPublicModel(Parsed(test::kPublicTimes), Parsed(test::kPublicSizes), "tiny");
  ASSERT_EQ(model.status(), absl::OkStatus());
  EXPECT_EQ(model->layers, 5);  // embedding, three blocks, head
  EXPECT_EQ(model->blocks, 3);
  EXPECT_EQ(model->block_layer(), 2);
  ASSERT_NE(model->Times("fast-8", 1, 10), nullptr);  // "10" comes before "2" among strings
  EXPECT_EQ((*model->Times("fast-8", 1, 2))[2].forward, 0.02);
  EXPECT_EQ(model->Times("fast-8", 2, 10), nullptr);
  EXPECT_EQ(model->Times("other", 1, 2), nullptr);
}

TEST(PublicModel, NamesWhatIsWrong) {
  constexpr char kSizes[] = R"({"m": {"1": {"0": {"params_floats": 1, "act_output_floats": 1, "act_mem_floats": 1}}}})";
  EXPECT_THAT(FaultOf(R"({"a": {}, "b": {}})", "{}"), HasSubstr("has no model 'm', it has a, b"));
  EXPECT_THAT(FaultOf("[]", "{}"), HasSubstr("layer_times.json: expected an object"));
  EXPECT_THAT(FaultOf(R"({"m": {"g": {"one": {}}}})", kSizes), HasSubstr("m.g: \"one\" is no number"));
  EXPECT_THAT(FaultOf(R"({"m": {"g": {"0": {}}}})", kSizes), HasSubstr("m.g: \"0\" is no number"));
  EXPECT_THAT(FaultOf(R"({"m": {"g": {"1": {"1": {"0": [1, 1, 1], "2": [1, 1, 1]}}}}})", kSizes),
              HasSubstr("m.g.1.1 has no layer 1"));
  EXPECT_THAT(FaultOf(R"({"m": {"g": {"1": {"1": {"0": [1, 1]}}}}})", kSizes), HasSubstr("m.g.1.1.0: expected"));
  EXPECT_THAT(FaultOf(R"({"m": {"g": {"1": {"1": {"0": [1, -1, 1]}}}}})", kSizes), HasSubstr("none negative"));
  EXPECT_THAT(FaultOf(R"({"m": {}})", R"({"m": {"1": {"0": {"params_floats": 1}}}})"),
              HasSubstr("m.1.0.act_output_floats: expected a number"));
  EXPECT_THAT(FaultOf(R"({"m": {}})", kSizes), HasSubstr("no embedding, blocks and head"));
}

// h 64: 12h² + 13h = 49984; 5 tokens; 64·(11 + 5) = 1024 parameters of the embedding. The kept floats per token are
// 2·64 + (8·64 + 1·5)/t = 645 at degree 1 and 386.5 at degree 2, one head of 64.
TEST(ImportProfile, FindsTheShape) {
  const auto model = ReadPublicModel(Parsed(test::kPublicTimes), Parsed(test::kPublicSizes), "tiny");
  const auto shape = ShapeOf(*model);
  ASSERT_EQ(shape.status(), absl::OkStatus());
  EXPECT_EQ(shape->hidden, 64);
  EXPECT_EQ(shape->heads, 1);
  EXPECT_EQ(shape->seq_len, 5);
  EXPECT_EQ(shape->vocab, 11);
  EXPECT_EQ(shape->blocks, 3);
  EXPECT_EQ(ir::ParametersOnRank(*shape, ir::LayerKind::kBlock, 1, 1).total(), 49984);
}

// The update of 0.2 s belongs to embedding 1024 + 2 · 49984 + head 832 = 101824 parameters.
TEST(ImportProfile, IsReadBack) {
  const auto model = ReadPublicModel(Parsed(test::kPublicTimes), Parsed(test::kPublicSizes), "tiny");
  const auto imported = ImportProfile(*model, "fast-8");
  ASSERT_EQ(imported.status(), absl::OkStatus());
  ir::Problem problem{.model = *ShapeOf(*model)};
  problem.cluster.gpus = {{.name = "fast_8"}};
  ASSERT_EQ(AddMeasuredProfile(imported->text, "p", ir::GpuId(0), problem), absl::OkStatus());
  const ir::ProfileKey key{.kind = ir::LayerKind::kBlock, .gpu = ir::GpuId(0), .tensor = 1, .micro_batch = 2};
  const ir::LayerTime block = *MeasuredTime(problem.profile, key, problem.cluster);
  EXPECT_DOUBLE_EQ(block.forward.value(), 0.02);  // layer 2, not layer 1
  EXPECT_DOUBLE_EQ(block.backward.value(), 0.04);
  EXPECT_DOUBLE_EQ(block.optimizer.value(), 0.2 * 49984 / 101824);
  EXPECT_EQ(block.activations, Bytes(4 * 2 * 3225));
  ir::ProfileKey embedding = key;
  embedding.kind = ir::LayerKind::kEmbedding;
  EXPECT_EQ(problem.profile.Get(embedding, problem.cluster)->backward, Seconds(0));  // not measured: allowed
  // Between micro-batches 2 and 10, at 4, a quarter of the way: 0.02 + 0.25 · 0.08; kept floats grow with samples.
  ir::ProfileKey between = key;
  between.micro_batch = 4;
  const ir::LayerTime quarter = *MeasuredTime(problem.profile, between, problem.cluster);
  EXPECT_DOUBLE_EQ(quarter.forward.value(), 0.04);
  EXPECT_EQ(quarter.activations, Bytes(4 * 4 * 3225));
}

TEST(ImportProfile, SaysWhatItDropped) {
  const auto model = ReadPublicModel(Parsed(test::kPublicTimes), Parsed(test::kPublicSizes), "tiny");
  const auto imported = ImportProfile(*model, "fast_8");
  ASSERT_EQ(imported.status(), absl::OkStatus());
  EXPECT_THAT(imported->text, Not(HasSubstr("\"tensor\": 3")));
  EXPECT_THAT(imported->notes, testing::Contains(HasSubstr("dropped tensor degree 3: no power of two")));
  EXPECT_THAT(imported->notes, testing::Contains(HasSubstr("tensor degree 4 has no sizes")));
  EXPECT_THAT(std::string(ImportProfile(*model, "slow").status().message()), HasSubstr("was not measured on slow"));
}

TEST(ImportProfile, RefusesWhatIsNoGpt) {
  auto model = ReadPublicModel(Parsed(test::kPublicTimes), Parsed(test::kPublicSizes), "tiny");
  model->sizes[1][2].parameters += 5;
  EXPECT_THAT(std::string(ShapeOf(*model).status().message()), HasSubstr("tiny is not a gpt: a block has 49989"));
}

TEST(MeasuredProfile, ChecksActivations) {
  ir::Problem problem;
  problem.cluster.gpus = {{.name = "g"}};
  const auto text = [](absl::string_view bytes) {
    return absl::StrCat(R"({"format":"1.0","kind":"sailprofile","gpu":"g","precision":"fp32","model":{"hidden":0,
      "heads":0,"feed_forward":0,"seq_len":0,"vocab":0,"embedding_width":0},"entries":[{"layer":"block","tensor":1,
      "micro_batch":1,"forward_s":1,"backward_s":1,"optimizer_s":0,"activation_bytes":)",
                        bytes, "}]}");
  };
  EXPECT_EQ(AddMeasuredProfile(text("12"), "p", ir::GpuId(0), problem), absl::OkStatus());
  EXPECT_THAT(std::string(AddMeasuredProfile(text("-1"), "p", ir::GpuId(0), problem).message()),
              HasSubstr("entries[0].activation_bytes must lie in 0.."));
  EXPECT_FALSE(AddMeasuredProfile(text("\"much\""), "p", ir::GpuId(0), problem).ok());
}

TEST(PublicNetwork, ReadsBothFiles) {
  const auto network = ReadPublicNetwork(Parsed(R"({"z-1": {"a-1": {"2": {"z-2": {"b": {"4": [[1, 2, 3], 5e9]}}}}}})"),
                                         Parsed(R"({"a-1": {"2": [[0, 0, 8], 8e9]}})"));
  ASSERT_EQ(network.status(), absl::OkStatus());
  const LinkCurve* curve = network->Between({"a_1", "z_1", 2}, {"b", "z-2", 4});
  ASSERT_NE(curve, nullptr);
  EXPECT_EQ(curve->largest, BytesPerSecond(5e9));
  // 4 MB: x = 2, 1·4 + 2·2 + 3 = 11 GB/s.
  EXPECT_DOUBLE_EQ(curve->FittedSeconds(4e6), 4e6 / 11e9);
  EXPECT_EQ(network->Between({"b", "z-2", 4}, {"a_1", "z_1", 2}), nullptr);
  ASSERT_NE(network->Inside("a_1", 2), nullptr);
  EXPECT_EQ(network->Inside("a_1", 4), nullptr);
}

TEST(PublicNetwork, NamesWhatIsWrong) {
  const auto fault = [](absl::string_view between, absl::string_view inside) {
    return std::string(ReadPublicNetwork(Parsed(between), Parsed(inside)).status().message());
  };
  EXPECT_THAT(fault(R"({"z": {"a": {"1": {"z": {"a": {"1": [[1, 2], 5]}}}}}})", "{}"),
              HasSubstr("bandwidths.z.a.1.z.a.1: expected [[c2, c1, c0], bytes per second]"));
  EXPECT_THAT(fault("{}", R"({"a": {"no": [[1, 2, 3], 5]}})"), HasSubstr("\"no\" is no number of GPUs"));
  EXPECT_THAT(fault("{}", R"({"a": {"1": [[1, 2, 3], 0]}})"), HasSubstr("a.1: expected"));
}

}  // namespace
}  // namespace sail::sim
