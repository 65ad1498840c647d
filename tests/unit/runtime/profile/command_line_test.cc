// What `sailrun profile` refuses before it starts any process.
#include "runtime/profile/command_line.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sail::rt {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  int exit_code = 0;
  std::string output, errors;
};

Outcome Profile(std::vector<std::string> words) {
  words.insert(words.begin(), {"sailrun", "profile"});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int exit_code = ProfileMain(static_cast<int>(argv.size()), argv.data());
  return {exit_code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

TEST(ProfileCommandLine, UsageErrorsExitWith2) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{}, "a plan file is missing"},
      {{"a.sailplan"}, "-o is missing"},
      {{"a.sailplan", "-o"}, "-o needs a value"},
      {{"a.sailplan", "b.sailplan", "-o", "d"}, "unexpected argument 'b.sailplan'"},
      {{"a.sailplan", "-o", "d", "--speed", "9"}, "unknown option '--speed'"},
      {{"a.sailplan", "-o", "d", "--gpu", "x", "--gpu", "y"}, "--gpu is given twice"},
      {{"a.sailplan", "-o", "d", "--ranks", "0"}, "--ranks: '0' is not a number from 1 to 256"},
      {{"a.sailplan", "--link"}, "--link takes no plan, gpu or ranks"},
  };
  for (const auto& [words, error] : wrong) {
    const Outcome outcome = Profile(words);
    EXPECT_EQ(outcome.exit_code, 2) << error;
    EXPECT_THAT(outcome.errors, HasSubstr(error));
    EXPECT_EQ(outcome.output, "");
  }
}

TEST(ProfileCommandLine, HelpSaysWhatIsWritten) {
  const Outcome outcome = Profile({"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("DIR/NAME.json"));
}

TEST(ProfileCommandLine, AMissingPlanIsNamed) {
  const Outcome outcome = Profile({"/nowhere/a.sailplan", "-o", "/nowhere/d"});
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.errors, HasSubstr("'/nowhere/a.sailplan'"));
}

}  // namespace
}  // namespace sail::rt
