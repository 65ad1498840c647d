#include "runtime/bundle/bundle.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/base/file_system.h"
#include "compiler/base/json.h"
#include "compiler/base/sha256.h"
#include "compiler/ir/plan_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/bundle/nodes.h"
#include "tests/support/tiny_bundle.h"

namespace sail::rt {
namespace {

namespace fs = std::filesystem;
using test::TinyBundle;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BundleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/bundle.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    path_ = root_ + "/out";
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string Contents(const std::string& file) {
    std::ifstream in(path_ + "/" + file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void Overwrite(const std::string& file, const std::string& contents) {
    std::ofstream(path_ + "/" + file, std::ios::binary | std::ios::trunc) << contents;
  }
  // Changes bundle.json and makes its hash in the manifest right again.
  void EditJson(const std::function<void(Json&)>& edit) {
    const std::string before = Contents("bundle.json");
    Json json = Json::parse(before);
    edit(json);
    const std::string after = DumpJson(json);
    Overwrite("bundle.json", after);
    Overwrite("MANIFEST.sha256",
              absl::StrReplaceAll(Contents("MANIFEST.sha256"), {{Sha256Hex(before), Sha256Hex(after)}}));
  }
  std::vector<std::string> Entries(const std::string& directory) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::vector<std::string> Files() {
    std::vector<std::string> paths;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      if (entry.is_regular_file()) paths.push_back(entry.path().lexically_relative(path_));
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  std::string root_, path_;
};

TEST_F(BundleTest, RoundTripKeepsEverything) {
  const Bundle bundle = TinyBundle();
  ASSERT_EQ(WriteBundle(bundle, path_), absl::OkStatus());
  const absl::StatusOr<Bundle> read = ReadBundle(path_);
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_EQ(read->problem, bundle.problem);
  EXPECT_EQ(read->plan, bundle.plan);
  EXPECT_EQ(read->plan_hash, "sha256:feed");
  EXPECT_EQ(read->predicted_iteration, Seconds(0.25));
  EXPECT_EQ(read->limits.collective_timeout, bundle.limits.collective_timeout);
  EXPECT_EQ(read->limits.rendezvous_timeout, bundle.limits.rendezvous_timeout);
  EXPECT_EQ(read->limits.stop_grace, bundle.limits.stop_grace);
  EXPECT_EQ(read->tokens, bundle.tokens);
}

TEST_F(BundleTest, HoldsExactlyTheDocumentedFiles) {
  ASSERT_EQ(WriteBundle(TinyBundle(), path_), absl::OkStatus());
  EXPECT_THAT(Files(), ElementsAre("MANIFEST.sha256", "bundle.json", "data/tokens.bin", "nodes/fast-0/env",
                                   "nodes/fast-0/launch.sh", "nodes/slow-0/env", "nodes/slow-0/launch.sh"));
  EXPECT_EQ(access((path_ + "/nodes/fast-0/launch.sh").c_str(), X_OK), 0);
  EXPECT_THAT(Entries(root_), ElementsAre("out"));  // no temporary directory remains
  EXPECT_EQ(Contents("nodes/fast-0/env"),
            "# plan sha256:feed\nGROUP_RANK=0\nLOCAL_RANK=0,1\nLOCAL_WORLD_SIZE=2\nMASTER_ADDR=@{ip:controller}\n"
            "MASTER_PORT=@{port:controller}\nOMP_NUM_THREADS=1\nRANK=0,1\nSAIL_GPU=0,1\nSAIL_NODE=fast-0\n"
            "SAIL_PLAN_HASH=sha256:feed\nWORLD_SIZE=3\n");
}

// 258 = 0x0102: low byte first.
TEST_F(BundleTest, TokensAreLittleEndian) {
  Bundle bundle = TinyBundle();
  bundle.problem.model.vocab = 300;
  bundle.tokens.assign(20, 258);
  ASSERT_EQ(WriteBundle(bundle, path_), absl::OkStatus());
  EXPECT_EQ(Contents("data/tokens.bin").substr(0, 4), "\x02\x01\x02\x01");
}

TEST_F(BundleTest, TwoDirectoriesHoldTheSameBytes) {
  ASSERT_EQ(WriteBundle(TinyBundle(), path_), absl::OkStatus());
  std::vector<std::string> first;
  for (const std::string& file : Files()) first.push_back(file + Contents(file));
  path_ = root_ + "/elsewhere";
  ASSERT_EQ(WriteBundle(TinyBundle(), path_), absl::OkStatus());
  std::vector<std::string> second;
  for (const std::string& file : Files()) second.push_back(file + Contents(file));
  EXPECT_EQ(first, second);
}

TEST_F(BundleTest, EqualBundleIsLeftAlone) {
  ASSERT_EQ(WriteBundle(TinyBundle(), path_), absl::OkStatus());
  struct stat before, after;
  ASSERT_EQ(stat(path_.c_str(), &before), 0);
  ASSERT_EQ(WriteBundle(TinyBundle(), path_ + "/"), absl::OkStatus());
  ASSERT_EQ(stat(path_.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST_F(BundleTest, AnotherBundleIsReplaced) {
  ASSERT_EQ(WriteBundle(TinyBundle(), path_), absl::OkStatus());
  Bundle other = TinyBundle();
  other.predicted_iteration = Seconds(0.5);
  ASSERT_EQ(WriteBundle(other, path_), absl::OkStatus());
  const absl::StatusOr<Bundle> read = ReadBundle(path_);
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_EQ(read->predicted_iteration, Seconds(0.5));
  EXPECT_THAT(Entries(root_), ElementsAre("out"));
}

TEST_F(BundleTest, DirectoriesThatHoldOtherFilesAreNotReplaced) {
  fs::create_directory(path_);
  Overwrite("precious.txt", "x");
  EXPECT_THAT(WriteBundle(TinyBundle(), path_).message(), HasSubstr("is not a bundle"));
  fs::remove_all(path_);

  ASSERT_EQ(WriteBundle(TinyBundle(), path_), absl::OkStatus());
  Overwrite("precious.txt", "x");
  EXPECT_THAT(WriteBundle(TinyBundle(), path_).message(), HasSubstr("precious.txt"));
  EXPECT_EQ(Contents("precious.txt"), "x");
}

TEST_F(BundleTest, AFlippedByteInAnyFileIsNamed) {
  ASSERT_EQ(WriteBundle(TinyBundle(), path_), absl::OkStatus());
  for (const std::string& file : Files()) {
    const std::string good = Contents(file);
    for (const size_t at : {size_t{0}, good.size() / 2, good.size() - 1}) {
      std::string bad = good;
      bad[at] ^= 1;
      Overwrite(file, bad);
      const absl::Status status = ReadBundle(path_).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << file << " at " << at << ": " << status;
      // A flipped manifest byte shows as the manifest's own fault or as that of the file whose line was hit.
      if (file != "MANIFEST.sha256") {
        EXPECT_THAT(std::string(status.message()), HasSubstr("'" + file + "'"));
      }
    }
    Overwrite(file, good);
  }
  EXPECT_EQ(ReadBundle(path_).status(), absl::OkStatus());
}

TEST_F(BundleTest, AMissingFileIsNamed) {
  ASSERT_EQ(WriteBundle(TinyBundle(), path_), absl::OkStatus());
  for (const std::string& file : Files()) {
    const std::string good = Contents(file);
    fs::remove(path_ + "/" + file);
    const absl::Status status = ReadBundle(path_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr(file));
    Overwrite(file, good);
  }
}

TEST_F(BundleTest, ATruncatedManifestIsRefused) {
  ASSERT_EQ(WriteBundle(TinyBundle(), path_), absl::OkStatus());
  const std::string good = Contents("MANIFEST.sha256");
  for (const size_t size : {size_t{0}, good.size() / 2, good.size() - 1}) {
    Overwrite("MANIFEST.sha256", good.substr(0, size));
    EXPECT_EQ(ReadBundle(path_).status().code(), absl::StatusCode::kFailedPrecondition) << size;
  }
}

TEST_F(BundleTest, UnknownFilesAreNamed) {
  ASSERT_EQ(WriteBundle(TinyBundle(), path_), absl::OkStatus());
  Overwrite("nodes/extra", "x");
  const absl::Status status = ReadBundle(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("'nodes/extra'"));
}

TEST_F(BundleTest, ALinkInPlaceOfAFileIsRefused) {
  ASSERT_EQ(WriteBundle(TinyBundle(), path_), absl::OkStatus());
  fs::rename(path_ + "/data/tokens.bin", root_ + "/tokens.bin");
  fs::create_symlink(root_ + "/tokens.bin", path_ + "/data/tokens.bin");
  EXPECT_THAT(std::string(ReadBundle(path_).status().message()), HasSubstr("not a regular file"));
}

TEST_F(BundleTest, AnAbsentBundleIsNotFound) {
  EXPECT_EQ(ReadBundle(path_).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(BundleTest, OtherVersionsKindsAndFieldsAreRefused) {
  const std::vector<std::pair<std::function<void(Json&)>, std::string>> edits = {
      {[](Json& j) {
         j["format"] = "2.0";
         j["new_field"] = 1;
       },
       "version '2.0'"},
      {[](Json& j) { j["kind"] = "cake"; }, "bundle.kind"},
      {[](Json& j) { j["new_field"] = 1; }, "bundle.new_field: unknown field"},
      {[](Json& j) { j["limits"]["patience_s"] = 1; }, "bundle.limits.patience_s: unknown field"},
      {[](Json& j) { j["ranks"][0]["colour"] = 1; }, "bundle.ranks[0].colour: unknown field"},
      {[](Json& j) { j.erase("plan_hash"); }, "bundle.plan_hash: missing"},
      {[](Json& j) { j["limits"]["stop_grace_s"] = 0; }, "limits.stop_grace_s"},
      {[](Json& j) { j["limits"]["stop_grace_s"] = "3"; }, "limits.stop_grace_s"},
      {[](Json& j) { j["files"]["data/tokens.bin"] = "0"; }, "bundle.files"},
      {[](Json& j) { j["plan"]["pipelines"] = Json::array(); }, "no pipeline"},
      {[](Json& j) { j["ranks"][1]["gpu"] = 3; }, "bundle.ranks: differs"},
      {[](Json& j) { j["ranks"][1]["node"] = "moon-0"; }, "no node 'moon-0'"},
      {[](Json& j) { j["ranks"].erase(2); }, "bundle.ranks: differs"},
      {[](Json& j) { j["problem"]["job"]["data"] = nullptr; }, "names no data"},
  };
  for (const auto& [edit, expected] : edits) {
    ASSERT_EQ(WriteBundle(TinyBundle(), path_), absl::OkStatus());
    EditJson(edit);
    const absl::Status status = ReadBundle(path_).status();
    EXPECT_FALSE(status.ok()) << expected;
    EXPECT_THAT(std::string(status.message()), HasSubstr(expected));
    fs::remove_all(path_);
  }
}

// The whole model on the fast node, after the loss of slow-0; nothing is known for the loss of fast-0.
std::vector<Fallback> TinyFallbacks(const std::string& from = "sha256:feed") {
  ir::Problem problem = TinyBundle().problem;
  ir::Plan plan = TinyBundle().plan;
  --problem.cluster.pools[1].quota;
  plan.pipelines[0].stages = {test::MakeStage(0, 5, 0, 0, {0, 1})};
  ir::PlanOrigin origin{.plan_hash = from, .semantics = 1, .was = {}};
  for (const ir::Pool& pool : problem.cluster.pools) origin.was.emplace_back(pool.quota, -1);
  ir::Report report;
  report.iteration = Seconds(1);
  return {{.nodes = {"fast-0"}},
          {.nodes = {"slow-0"}, .plan_file = ir::PrintPlanFile(problem, plan, report, {}, origin)}};
}

TEST_F(BundleTest, FallbacksAreKept) {
  Bundle bundle = TinyBundle();
  bundle.fallbacks = TinyFallbacks();
  bundle.fallbacks.push_back({.nodes = {}, .zone = 1});
  ASSERT_EQ(WriteBundle(bundle, path_), absl::OkStatus());
  EXPECT_EQ(Contents("fallbacks/node-slow-0.sailplan"), bundle.fallbacks[1].plan_file);
  EXPECT_THAT(Contents("MANIFEST.sha256"), HasSubstr("  fallbacks/node-slow-0.sailplan\n"));
  const absl::StatusOr<Bundle> read = ReadBundle(path_);
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_EQ(read->fallbacks, bundle.fallbacks);
}

TEST_F(BundleTest, FaultyFallbacksAreNamed) {
  const std::vector<std::pair<std::function<void(Json&)>, std::string>> edits = {
      {[](Json& j) { j["fallbacks"][1]["nodes"] = Json::array({"slow-1"}); },
       "file: expected 'fallbacks/node-slow-1.sailplan'"},
      {[](Json& j) { j["fallbacks"][0]["nodes"] = Json::array({"fast-7"}); },
       "fallbacks[0]: no rank is on node 'fast-7'"},
      {[](Json& j) { j["fallbacks"][0]["nodes"] = Json::array(); }, "fallbacks[0]: no node"},
      {[](Json& j) {
         j["fallbacks"][0] = Json{{"zone", 2}};
       },
       "fallbacks[0]: the cluster has no zone 2"},
      {[](Json& j) { j["fallbacks"][0]["file"] = "fallbacks/node-fast-0.sailplan"; },
       "node-fast-0.sailplan' is missing"},
      {[](Json& j) { j["fallbacks"].erase(1); }, "bundle.fallbacks: names 0 plan files, there are 1"},
      {[](Json& j) { j["plan_hash"] = "sha256:beef"; }, "fallbacks[1]: was not made from the plan of the bundle"},
      {[](Json& j) { j["problem"]["job"]["steps"] = 7; }, "fallbacks[1]: is of another problem than the bundle"},
  };
  for (const auto& [edit, expected] : edits) {
    Bundle bundle = TinyBundle();
    bundle.fallbacks = TinyFallbacks();
    ASSERT_EQ(WriteBundle(bundle, path_), absl::OkStatus());
    EditJson(edit);
    EXPECT_THAT(std::string(ReadBundle(path_).status().message()), HasSubstr(expected));
    fs::remove_all(path_);
  }
  Bundle bundle = TinyBundle();
  bundle.fallbacks = TinyFallbacks("sha256:other");
  EXPECT_THAT(std::string(WriteBundle(bundle, path_).message()), HasSubstr("was not made from the plan of the bundle"));
}

// A node of 8 and a node of 2 GPUs get 8 and 2 processes, not 5 and 5.
TEST_F(BundleTest, Nodes_8_2) {
  Bundle bundle = TinyBundle();
  bundle.problem.cluster.machines[0].gpus_per_node = 8;
  bundle.plan.pipelines = {
      {.micro_batch = 1, .micro_batches = 3, .stages = {test::MakeStage(0, 5, 0, 0, {0, 1, 2, 3})}},
      {.micro_batch = 1, .micro_batches = 3, .stages = {test::MakeStage(0, 5, 0, 0, {4, 5, 6, 7})}},
      {.micro_batch = 1, .micro_batches = 2, .stages = {test::MakeStage(0, 5, 1, 0, {0, 1})}}};
  ASSERT_EQ(WriteBundle(bundle, path_), absl::OkStatus());
  EXPECT_THAT(Contents("nodes/fast-0/env"), HasSubstr("\nRANK=0,1,2,3,4,5,6,7\n"));
  EXPECT_THAT(Contents("nodes/slow-0/env"), HasSubstr("\nRANK=8,9\n"));

  EditJson([](Json& j) {
    for (int rank = 5; rank < 10; ++rank) j["ranks"][rank]["node"] = "slow-0";
  });
  EXPECT_THAT(std::string(ReadBundle(path_).status().message()),
              HasSubstr("5 processes on node 'slow-0', which has 2 GPUs"));
}

TEST_F(BundleTest, UnsoundPlansAndUnusableTextAreNotWritten) {
  const std::vector<std::pair<std::function<void(Bundle&)>, std::string>> faults = {
      {[](Bundle& b) { b.plan.pipelines[0].stages[1].group.gpus = {2}; }, "uses GPU 2 of a node with 2 GPUs"},
      {[](Bundle& b) { b.plan.pipelines[0].stages[1].group = b.plan.pipelines[0].stages[0].group; }, "used twice"},
      {[](Bundle& b) { b.problem.model.norm = ir::NormPlacement::kPost; }, "cannot train model 'tiny': norm = post"},
      {[](Bundle& b) { b.problem.job.data.reset(); }, "names no data"},
      {[](Bundle& b) { b.tokens.clear(); }, "the text has 0 tokens, one sample needs 17"},
      {[](Bundle& b) { b.tokens.resize(16); }, "the text has 16 tokens, one sample needs 17"},
      {[](Bundle& b) { b.tokens[3] = 37; }, "token 37"},
      {[](Bundle& b) { b.problem.cluster.pools[0].name = "../up"; }, "node '../up-0'"},
      {[](Bundle& b) { b.limits.collective_timeout = Seconds(0); }, "limits.collective_timeout_s"},
  };
  for (const auto& [damage, expected] : faults) {
    Bundle bundle = TinyBundle();
    damage(bundle);
    const absl::Status status = WriteBundle(bundle, path_);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << expected;
    EXPECT_THAT(std::string(status.message()), HasSubstr(expected));
    EXPECT_THAT(Entries(root_), IsEmpty());
  }
}

// The plan trains 2 · 4 samples. One that silently trained fewer than the job's batch would be another optimizer.
TEST_F(BundleTest, BatchTruncate_APlanOfAnotherBatchIsRefused) {
  Bundle bundle = TinyBundle();
  bundle.problem.job.global_batch = 9;
  EXPECT_THAT(std::string(WriteBundle(bundle, path_).message()),
              HasSubstr("8 samples per iteration, the global batch is 9"));
  ASSERT_EQ(WriteBundle(TinyBundle(), path_), absl::OkStatus());
  EditJson([](Json& j) { j["problem"]["job"]["global_batch"] = 9; });
  EXPECT_THAT(std::string(ReadBundle(path_).status().message()),
              HasSubstr("8 samples per iteration, the global batch is 9"));
}

// The limit on file size makes write() fail half-way, as a full disk does.
TEST_F(BundleTest, AFailedWriteLeavesNothingAndKeepsTheOldBundle) {
  ASSERT_EQ(WriteBundle(TinyBundle(), path_), absl::OkStatus());
  Bundle larger = TinyBundle();
  larger.tokens.resize(100000);
  struct rlimit unlimited;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  struct rlimit small = unlimited;
  small.rlim_cur = 65536;
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status status = WriteBundle(larger, path_);
  const absl::Status fresh = WriteBundle(larger, root_ + "/fresh");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(fresh.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("tokens.bin"));
  EXPECT_THAT(Entries(root_), ElementsAre("out"));
  EXPECT_EQ(ReadBundle(path_).status(), absl::OkStatus());
}

// Killed at random moments, a write leaves a whole bundle or none under the final name.
TEST_F(BundleTest, AnInterruptedWriteIsNeverReadAsABundle) {
  Bundle bundle = TinyBundle();
  bundle.tokens.resize(200000);
  int absent = 0;
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(WriteBundle(bundle, path_).ok() ? 0 : 1);
    usleep(static_cast<useconds_t>(round * 500));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    const absl::Status status = ReadBundle(path_).status();
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kNotFound) << status;
    if (!status.ok()) ++absent;
    fs::remove_all(path_);
  }
  EXPECT_GE(absent, 1);  // round 0 is killed before anything can be written
}

// Writes `bundles` at the same time, each in a process of its own and `times` times over. Returns how many failed.
int WriteTogether(const std::vector<Bundle>& bundles, const std::string& path, int times) {
  std::vector<pid_t> children;
  for (const Bundle& bundle : bundles) {
    const pid_t child = fork();
    if (child == 0) {
      bool ok = true;
      for (int i = 0; i < times; ++i) ok &= WriteBundle(bundle, path).ok();
      _exit(ok ? 0 : 1);
    }
    children.push_back(child);
  }
  int failed = 0;
  for (const pid_t child : children) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    failed += status == 0 ? 0 : 1;
  }
  return failed;
}

TEST_F(BundleTest, ConcurrentWritesOfTheSameBundleAllEndWell) {
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(WriteTogether(std::vector<Bundle>(6, TinyBundle()), path_, 1), 0);
    EXPECT_EQ(ReadBundle(path_).status(), absl::OkStatus());
    EXPECT_THAT(Entries(root_), ElementsAre("out"));
    fs::remove_all(path_);
  }
}

// The last one wins; nobody is told of an error, and nothing is mixed.
TEST_F(BundleTest, ConcurrentWritesOfDifferentBundlesAllEndWell) {
  std::vector<Bundle> bundles(4, TinyBundle());
  for (size_t i = 0; i < bundles.size(); ++i) bundles[i].predicted_iteration = Seconds(1.0 + static_cast<double>(i));
  EXPECT_EQ(WriteTogether(bundles, path_, 20), 0);
  EXPECT_EQ(ReadBundle(path_).status(), absl::OkStatus());
  EXPECT_THAT(Entries(root_), ElementsAre("out"));
}

// What is no bundle is refused to each of many writers, and stays.
TEST_F(BundleTest, ConcurrentWritesDoNotReplaceOtherFiles) {
  fs::create_directory(path_);
  Overwrite("precious.txt", "x");
  EXPECT_EQ(WriteTogether(std::vector<Bundle>(4, TinyBundle()), path_, 1), 4);
  EXPECT_EQ(Contents("precious.txt"), "x");
  EXPECT_THAT(Entries(root_), ElementsAre("out"));
}

TEST_F(BundleTest, ADirectoryWithoutManifestIsAnInterruptedWrite) {
  ASSERT_EQ(WriteBundle(TinyBundle(), path_), absl::OkStatus());
  fs::remove(path_ + "/MANIFEST.sha256");
  EXPECT_THAT(std::string(ReadBundle(path_).status().message()), HasSubstr("MANIFEST.sha256 is missing"));
}

TEST(TokensOfText, AreBytes) {
  EXPECT_THAT(TokensOfText("a\xc3\xa9"), ElementsAre(97, 0xc3, 0xa9));
  EXPECT_THAT(TokensOfText(""), IsEmpty());  // seq-zero: an empty document adds nothing
}

// host-match, rank0-moves: ranks come from the bundle, the controller's address from its start; no name is compared.
TEST(ProcessEnvironments, FillPlaceholdersAndListsPerProcess) {
  const auto environments = ProcessEnvironments(
      "# plan x\nMASTER_ADDR=@{ip:controller}\nRANK=4,5\nSAIL_GPU=1,3\nZ=a,b\n", 2, "10.0.0.7", 29500);
  ASSERT_EQ(environments.status(), absl::OkStatus());
  EXPECT_EQ((*environments)[1].at("MASTER_ADDR"), "10.0.0.7");
  EXPECT_EQ((*environments)[1].at("RANK"), "5");
  EXPECT_EQ((*environments)[0].at("SAIL_GPU"), "1");
  EXPECT_EQ((*environments)[0].at("Z"), "a,b");
  EXPECT_FALSE(ProcessEnvironments("RANK=4\n", 2, "h", 1).ok());
  EXPECT_FALSE(ProcessEnvironments("A=@{secret:key}\n", 1, "h", 1).ok());
  EXPECT_FALSE(ProcessEnvironments("nonsense\n", 1, "h", 1).ok());
}

}  // namespace
}  // namespace sail::rt
