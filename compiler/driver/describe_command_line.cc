#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/driver/option_table.h"

namespace sail::driver {
namespace {

std::vector<std::string> Names(const cl::generic_parser_base& values) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < values.getNumOptions(); ++i) names.push_back(values.getOption(i).str());
  return names;
}

// The words of an option whose values are an enumeration.
std::vector<std::string> EnumeratedChoices(const cl::Option& option) {
  OptionTable& table = Options();
  if (&option == &table.print) return Names(table.print.getParser());
  if (&option == &table.format) return Names(table.format.getParser());
  if (&option == &table.color) return Names(table.color.getParser());
  return {};
}

// "bash|zsh|fish" or "W|WARNING" as words; a kind of value in capitals stands for itself.
void SplitValue(OptionDescription& description) {
  if (!absl::StrContains(description.value, "|") || description.value == "CODE|PLAN") return;
  std::vector<std::string> words = absl::StrSplit(description.value, '|');
  description.value = absl::StrContains(description.value, "WARNING") ? "WARNING" : "WORD";
  words.erase(std::remove(words.begin(), words.end(), "WARNING"), words.end());
  description.choices = std::move(words);
}

OptionDescription Describe(const cl::Option& option) {
  OptionDescription description;
  description.repeats = option.getNumOccurrencesFlag() == cl::ZeroOrMore;
  if (option.isPositional()) {
    description.value = std::string(absl::StripSuffix(absl::StripPrefix(option.HelpStr.str(), "["), "]"));
    description.repeats = absl::EndsWith(description.value, "...");
    description.value = std::string(absl::StripSuffix(description.value, "..."));
  } else {
    description.flag = absl::StrCat(option.ArgStr.size() == 1 ? "-" : "--", option.ArgStr.str());
    description.help = std::string(absl::StripSuffix(option.HelpStr.str(), ":"));
    if (option.getValueExpectedFlag() == cl::ValueRequired) description.value = option.ValueStr.str();
  }
  SplitValue(description);
  if (description.choices.empty()) description.choices = EnumeratedChoices(option);
  if (!description.choices.empty() && description.value.empty()) description.value = "WORD";
  return description;
}

}  // namespace

std::vector<CommandDescription> DescribeCommandLine() {
  OptionTable& table = Options();
  std::vector<CommandDescription> commands;
  for (cl::SubCommand* subcommand : table.subcommands()) {
    CommandDescription command{subcommand->getName().str(), subcommand->getDescription().str(), {}};
    for (const cl::Option* option : subcommand->PositionalOpts) command.options.push_back(Describe(*option));
    for (const auto& entry : subcommand->OptionsMap) {
      const bool ours = std::find(entry.second->Categories.begin(), entry.second->Categories.end(), &table.category) !=
                        entry.second->Categories.end();
      if (ours) command.options.push_back(Describe(*entry.second));
    }
    std::sort(command.options.begin(), command.options.end(),
              [](const OptionDescription& a, const OptionDescription& b) { return a.flag < b.flag; });
    commands.push_back(std::move(command));
  }
  return commands;
}

}  // namespace sail::driver
