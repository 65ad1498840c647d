// Random edits of every .sail file of the repository, each checked and, where it parses, formatted.
//
// usage: mutate_specs ROOT COUNT [SEED [ONLY]]
//
// What must hold of each input: no crash; at most a second of processor time; every label inside its file; errors
// exactly if the check fails; formatting keeps the tree and is idempotent. Input number i depends on SEED and i alone:
// ONLY repeats one of them in this process, for a debugger, and prints what is reported. Failing inputs are written to
// mutated-I.sail in the current directory.
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/file_system.h"
#include "compiler/base/rng.h"
#include "compiler/base/source.h"
#include "compiler/frontend/format.h"
#include "compiler/frontend/parse.h"
#include "compiler/passes/pipeline.h"

namespace sail {
namespace {

constexpr int kBatch = 250;         // inputs per child process
constexpr double kMostSeconds = 1;  // of processor time, so that a busy machine does not fail
constexpr int kHangSeconds = 10;    // after which the child is ended
constexpr char kHostile[][24] = {"{",
                                 "}",
                                 "[",
                                 "]",
                                 "(",
                                 ")",
                                 "\"",
                                 "\"\"\"",
                                 "${",
                                 "#",
                                 "##",
                                 ",",
                                 "..",
                                 "-",
                                 "/",
                                 "for x in [1, 2] {",
                                 "extends",
                                 "override",
                                 "remove",
                                 "as",
                                 "none",
                                 "secret(\"k\")",
                                 "9223372036854775808",
                                 "1e400",
                                 "1..1000000000",
                                 "\r",
                                 "\xff",
                                 "\u202e",
                                 "\ufeff",
                                 "\x01",
                                 "%",
                                 "if",
                                 "let a = a",
                                 "sail 1\n",
                                 "import \"./.\" as i"};

struct Seed {
  std::string path;  // relative to the root
  std::string text;
};

// Words, numbers, runs of blanks, and single other bytes.
std::vector<std::string> SplitTokens(const std::string& text) {
  const auto kind = [](char c) { return c == '_' || absl::ascii_isalnum(c) ? 1 : c == ' ' ? 2 : 0; };
  std::vector<std::string> tokens;
  for (const char c : text) {
    const bool joins = !tokens.empty() && kind(c) != 0 && kind(tokens.back().back()) == kind(c);
    if (joins) {
      tokens.back() += c;
    } else {
      tokens.emplace_back(1, c);
    }
  }
  return tokens;
}

std::vector<std::string> SplitBytes(const std::string& text) {
  std::vector<std::string> bytes;
  for (const char c : text) bytes.emplace_back(1, c);
  return bytes;
}

// One edit of one piece; `other` is where inserted pieces come from.
void EditPieces(std::vector<std::string>& pieces, const std::vector<std::string>& other, Rng& rng) {
  const auto any = [&](const std::vector<std::string>& of) { return rng.Below(static_cast<int64_t>(of.size())); };
  if (pieces.empty()) pieces.emplace_back("x");
  const auto at = pieces.begin() + any(pieces);
  switch (rng.Below(5)) {
    case 0:
      pieces.erase(at);
      break;
    case 1:
      pieces.insert(at, std::string(*at));
      break;
    case 2:
      std::swap(*at, pieces[any(pieces)]);
      break;
    case 3:
      pieces.insert(at, other.empty() ? "x" : other[any(other)]);
      break;
    default:
      pieces.insert(at, kHostile[rng.Below(std::size(kHostile))]);
  }
}

class Mutator {
 public:
  Mutator(std::vector<Seed> seeds, uint64_t seed) : seeds_(std::move(seeds)), seed_(seed) {}

  // The path that input number `index` stands for, and its text. Paths take turns.
  Seed Make(int index) const {
    Rng rng(Mix64(seed_) ^ static_cast<uint64_t>(index));
    Seed mutated = seeds_[index % seeds_.size()];
    for (int64_t edits = 1 + rng.Below(4); edits > 0; --edits) {
      const bool in_tokens = rng.Below(4) > 0;
      const auto split = in_tokens ? SplitTokens : SplitBytes;
      std::vector<std::string> pieces = split(mutated.text);
      EditPieces(pieces, split(seeds_[rng.Below(static_cast<int64_t>(seeds_.size()))].text), rng);
      mutated.text.clear();
      for (const std::string& piece : pieces) mutated.text += piece;
    }
    return mutated;
  }

 private:
  std::vector<Seed> seeds_;
  uint64_t seed_;
};

// The real files, but one.
class ReplacedFile : public FileSystem {
 public:
  explicit ReplacedFile(const Seed& replaced) : replaced_(replaced) {}
  absl::StatusOr<std::string> Read(const std::string& path, int64_t max_bytes) const override {
    return path == replaced_.path ? replaced_.text : real_.Read(path, max_bytes);
  }
  bool Exists(const std::string& path) const override { return path == replaced_.path || real_.Exists(path); }

 private:
  const Seed& replaced_;
  RealFileSystem real_;
};

bool IsInside(const Label& label, const SourceManager& sources) {
  const SourceRange& range = label.range;
  return range.valid() && range.file.index() < sources.size() && 0 <= range.begin && range.begin <= range.end &&
         range.end <= static_cast<int>(sources.Get(range.file).text().size());
}

// The rules of one input; the first one that is broken, or empty.
std::string BrokenRuleOfCheck(const Seed& input, bool print) {
  SourceManager sources;
  DiagnosticSink sink;
  const absl::Status status = CheckFile(input.path, ReplacedFile(input), ParseLimits(), sources, sink).status();
  if (print) std::cout << RenderText(sink.Sorted(), sources, {});
  for (const Diagnostic& diagnostic : sink.diagnostics()) {
    const bool inside = IsInside(diagnostic.primary, sources) &&
                        std::all_of(diagnostic.secondary.begin(), diagnostic.secondary.end(),
                                    [&](const Label& label) { return IsInside(label, sources); });
    if (!inside) return absl::StrCat(CodeText(diagnostic.code), " points outside its file: ", diagnostic.message);
  }
  if (RenderText(sink.Sorted(), sources, {}).empty() != sink.diagnostics().empty()) return "diagnostics without a text";
  if (RenderJson(sink.Sorted(), sources, {}).empty() != sink.diagnostics().empty()) return "diagnostics without JSON";
  if (!status.ok() && !IsDiagnosedError(status)) return absl::StrCat("environment error: ", status.message());
  if (status.ok() == sink.has_errors()) return status.ok() ? "accepted with errors" : "refused without an error";
  return "";
}

struct Formatted {
  std::string tree;  // of `text`
  std::string text;  // formatted
};

std::optional<Formatted> FormatText(const std::string& text) {
  SourceManager sources;
  DiagnosticSink sink;
  const SourceId id = sources.Add("input.sail", text);
  const auto spec = Parse(sources, id, ParseLimits(), sink);
  if (!spec.ok()) return std::nullopt;
  auto formatted = Format(sources, id, ParseLimits(), sink);
  if (!formatted.ok()) return std::nullopt;
  return Formatted{PrintAst(*spec), *std::move(formatted)};
}

std::string BrokenRuleOfFormat(const Seed& input) {
  SourceManager sources;
  DiagnosticSink sink;
  if (!Parse(sources, sources.Add(input.path, input.text), ParseLimits(), sink).ok()) return "";
  const auto once = FormatText(input.text);
  if (!once) return "parses, but cannot be formatted";
  const auto twice = FormatText(once->text);
  if (!twice) return "formatting broke it";
  if (once->tree != twice->tree) return "formatting changed the tree";
  return once->text == twice->text ? "" : "formatting twice differs";
}

// What a child tells the parent, also when it crashes.
struct Progress {
  int index;  // being worked on
  int failures;
  int slowest_index;
  double slowest_seconds;
};

class Run {
 public:
  Run(const Mutator& mutator, Progress& progress) : mutator_(mutator), progress_(progress) {}

  // Inputs `begin` to `end` in child processes; one that ends early costs the input it was at.
  void Batch(int begin, int end) {
    for (int next = begin; next < end;) {
      std::cout.flush();
      const pid_t child = fork();
      SAIL_CHECK(child >= 0) << "fork failed";
      if (child == 0) {
        for (int index = next; index < end; ++index) One(index);
        std::cout.flush();
        _exit(0);
      }
      int status = 0;
      SAIL_CHECK(waitpid(child, &status, 0) == child) << "waitpid failed";
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
      Fail(progress_.index, WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM
                                ? absl::StrCat("no end after ", kHangSeconds, " s")
                                : absl::StrCat("crash, wait status ", status));
      next = progress_.index + 1;
    }
  }

  void One(int index, bool print = false) {
    progress_.index = index;
    const Seed input = mutator_.Make(index);
    const itimerval limit{{0, 0}, {kHangSeconds, 0}};
    setitimer(ITIMER_VIRTUAL, &limit, nullptr);
    const std::clock_t start = std::clock();
    std::string broken = BrokenRuleOfCheck(input, print);
    if (broken.empty()) broken = BrokenRuleOfFormat(input);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (broken.empty() && seconds > kMostSeconds) broken = absl::StrCat("took ", seconds, " s");
    if (!broken.empty()) Fail(index, broken);
    if (seconds > progress_.slowest_seconds) {
      progress_.slowest_seconds = seconds;
      progress_.slowest_index = index;
    }
  }

 private:
  void Fail(int index, const std::string& what) {
    const Seed input = mutator_.Make(index);
    const std::string kept = absl::StrCat("mutated-", index, ".sail");
    std::ofstream(kept, std::ios::binary) << input.text;
    std::cout << "input " << index << " (" << input.path << "), kept as " << kept << ": " << what << "\n";
    ++progress_.failures;
  }

  const Mutator& mutator_;
  Progress& progress_;
};

std::vector<Seed> ReadSeeds(const std::string& root) {
  std::vector<Seed> seeds;
  for (const char* directory : {"stdlib", "examples", "tests"}) {
    const auto top = std::filesystem::path(root) / directory;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
      if (entry.path().extension() != ".sail") continue;
      std::ifstream in(entry.path(), std::ios::binary);
      seeds.push_back({entry.path().string(), {std::istreambuf_iterator<char>(in), {}}});
    }
  }
  std::sort(seeds.begin(), seeds.end(), [](const Seed& a, const Seed& b) { return a.path < b.path; });
  return seeds;
}

int Main(int argc, char** argv) {
  int count = 0;
  uint64_t seed = 0;
  int only = -1;
  const bool ok = argc >= 3 && argc <= 5 && absl::SimpleAtoi(argv[2], &count) &&
                  (argc < 4 || absl::SimpleAtoi(argv[3], &seed)) && (argc < 5 || absl::SimpleAtoi(argv[4], &only));
  if (!ok) {
    std::cerr << "usage: mutate_specs ROOT COUNT [SEED [ONLY]]\n";
    return 2;
  }
  std::vector<Seed> seeds = ReadSeeds(argv[1]);
  const size_t files = seeds.size();
  SAIL_CHECK(files > 0) << "no .sail files below " << argv[1];
  const Mutator mutator(std::move(seeds), seed);
  void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  SAIL_CHECK(shared != MAP_FAILED) << "mmap failed";
  Progress& progress = *new (shared) Progress{};
  Run run(mutator, progress);
  if (only >= 0) {
    run.One(only, true);
  } else {
    for (int begin = 0; begin < count; begin += kBatch) run.Batch(begin, std::min(count, begin + kBatch));
  }
  std::cout << count << " edits of " << files << " files, seed " << seed << ": " << progress.failures
            << " failures; slowest " << progress.slowest_seconds << " s (input " << progress.slowest_index << ")\n";
  if (progress.failures > 0)
    std::cout << "repeat one: mutate_specs " << argv[1] << " " << count << " " << seed << " INPUT\n";
  return progress.failures > 0 ? 1 : 0;
}

}  // namespace
}  // namespace sail

int main(int argc, char** argv) { return sail::Main(argc, argv); }
