#include "compiler/driver/completions.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "compiler/base/diagnostic.h"

namespace sail::driver {
namespace {

constexpr char kBashHead[] =
    R"__sh__(# bash completion of sailc: source this, or put it where bash-completion looks for scripts
_sailc_files() {  # files with one of the endings, and directories
  local ending
  compopt -o filenames 2>/dev/null
  for ending in "$@"; do
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X "!*$ending" -- "$cur")
  done
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$cur")
}
_sailc_words() {
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$1" -- "$cur")
}
_sailc() {
  local cur=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD-1]}
  # bash splits --flag=value into three words
  if [[ $cur == = ]]; then cur=; elif [[ $flag == = ]]; then flag=${COMP_WORDS[COMP_CWORD-2]}; fi
  COMPREPLY=()
)__sh__";

constexpr char kBashTail[] = R"__sh__(}
complete -F _sailc sailc
)__sh__";

std::string Codes(bool warnings_only) {
  std::vector<std::string> codes;
  for (const DiagnosticCode code : AllCodes()) {
    if (!warnings_only || SeverityOf(code) == Severity::kWarning) codes.push_back(CodeText(code));
  }
  return absl::StrJoin(codes, " ");
}

// The words `value` may be, separated by blanks: choices, and codes for CODE and WARNING.
std::string WordsOf(const OptionDescription& option) {
  std::string words = absl::StrJoin(option.choices, " ");
  const bool warnings = option.value == "WARNING";
  if (warnings || absl::StartsWith(option.value, "CODE"))
    absl::StrAppend(&words, words.empty() ? "" : " ", Codes(warnings));
  return words;
}

// The endings of the files that `value` may be. "OUT" and "PATH" are files or directories of any name.
std::vector<std::string> EndingsOf(const OptionDescription& option) {
  if (option.value == "FILE") return {".sail"};
  if (absl::EndsWith(option.value, "PLAN")) return {".sailplan"};
  if (option.value == "STATE") return {".json"};
  if (option.value == "OUT" || option.value == "PATH") return {""};
  return {};
}

bool IsPath(const OptionDescription& option) { return option.value == "DIR" || !EndingsOf(option).empty(); }

// --- bash ---

std::string BashValue(const OptionDescription& option) {
  if (IsPath(option)) {
    std::string call = "_sailc_files";
    for (const std::string& ending : EndingsOf(option)) absl::StrAppend(&call, " '", ending, "'");
    const std::string words = WordsOf(option);
    return words.empty() ? call : absl::StrCat(call, "; _sailc_words '", words, "'");
  }
  return absl::StrCat("_sailc_words '", WordsOf(option), "'");
}

std::string BashScript(const std::vector<CommandDescription>& commands) {
  std::vector<std::string> names;
  std::string values;  // one case for each flag that takes a value
  std::string words;   // one case for each command: its flags and what stands without a flag
  for (const CommandDescription& command : commands) {
    names.push_back(command.name);
    std::vector<std::string> flags;
    std::string positional = ":";
    for (const OptionDescription& option : command.options) {
      if (option.flag.empty()) {
        positional = BashValue(option);
        continue;
      }
      flags.push_back(option.flag);
      if (option.value.empty()) continue;
      absl::StrAppend(&values, "    '", command.name, " ", option.flag, "') ", BashValue(option), "; return ;;\n");
    }
    absl::StrAppend(&words, "    ", command.name, ") if [[ $cur == -* ]]; then _sailc_words '",
                    absl::StrJoin(flags, " "), "'; else ", positional, "; fi ;;\n");
  }
  return absl::StrCat(kBashHead, "  if ((COMP_CWORD == 1)); then _sailc_words '", absl::StrJoin(names, " "),
                      " --help --version'; return; fi\n  case \"${COMP_WORDS[1]} $flag\" in\n", values,
                      "  esac\n  case ${COMP_WORDS[1]} in\n", words, "  esac\n", kBashTail);
}

// --- zsh ---

std::string ZshQuoted(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"'", "'\\''"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}});
}

// ":FILE:action" of _arguments.
std::string ZshValue(const OptionDescription& option) {
  std::string action;
  if (option.value == "DIR") {
    action = "_files -/";
  } else if (IsPath(option) && !WordsOf(option).empty()) {
    action = absl::StrCat("{compadd ", WordsOf(option), "; _files -g \"*", EndingsOf(option)[0], "\"}");
  } else if (IsPath(option)) {
    action = absl::StrCat("_files -g \"*", absl::StrJoin(EndingsOf(option), "|*"), "\"");
  } else {
    const std::string words = WordsOf(option);
    action = words.empty() ? " " : absl::StrCat("(", words, ")");
  }
  return absl::StrCat(":", option.value, ":", action);
}

std::string ZshScript(const std::vector<CommandDescription>& commands) {
  std::string names, cases;
  for (const CommandDescription& command : commands) {
    absl::StrAppend(&names, "    '", command.name, ":", ZshQuoted(command.help), "'\n");
    absl::StrAppend(&cases, "    ", command.name, ") _arguments");
    for (const OptionDescription& option : command.options) {
      absl::StrAppend(&cases, " \\\n      '", option.repeats ? "*" : "");
      if (!option.flag.empty()) {
        const bool long_flag = absl::StartsWith(option.flag, "--") && !option.value.empty();
        absl::StrAppend(&cases, option.flag, long_flag ? "=" : "", "[", ZshQuoted(option.help), "]");
      }
      if (!option.value.empty()) absl::StrAppend(&cases, ZshValue(option));
      cases += "'";
    }
    cases += " ;;\n";
  }
  return absl::StrCat("#compdef sailc\n_sailc() {\n  local -a commands=(\n", names,
                      "  )\n  if ((CURRENT == 2)); then _describe command commands; return; fi\n"
                      "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n",
                      cases,
                      "  esac\n}\n# as a file of fpath, or sourced\n"
                      "if [[ $funcstack[1] == _sailc ]]; then _sailc \"$@\"; else compdef _sailc sailc; fi\n");
}

// --- fish ---

std::string FishQuoted(absl::string_view text) { return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}); }

std::string FishValue(const OptionDescription& option) {
  if (option.value == "DIR") return " -xa '(__fish_complete_directories)'";
  if (option.value == "OUT") return " -r";
  const std::string words = WordsOf(option);
  if (IsPath(option)) {
    return absl::StrCat(" -xa '", words, words.empty() ? "" : " ", "(__fish_complete_suffix ", EndingsOf(option)[0],
                        ")'");
  }
  return words.empty() ? " -x" : absl::StrCat(" -xa '", words, "'");
}

std::string FishScript(const std::vector<CommandDescription>& commands) {
  std::string script = "complete -c sailc -f\n";
  for (const CommandDescription& command : commands) {
    absl::StrAppend(&script, "complete -c sailc -n __fish_use_subcommand -a ", command.name, " -d '",
                    FishQuoted(command.help), "'\n");
    for (const OptionDescription& option : command.options) {
      absl::StrAppend(&script, "complete -c sailc -n '__fish_seen_subcommand_from ", command.name, "'");
      if (absl::StartsWith(option.flag, "--")) {
        absl::StrAppend(&script, " -l ", option.flag.substr(2));
      } else if (!option.flag.empty()) {
        absl::StrAppend(&script, " -s ", option.flag.substr(1));
      }
      if (!option.help.empty()) absl::StrAppend(&script, " -d '", FishQuoted(option.help), "'");
      if (!option.value.empty()) script += FishValue(option);
      script += "\n";
    }
  }
  return script;
}

}  // namespace

std::string CompletionScript(Shell shell, const std::vector<CommandDescription>& commands) {
  switch (shell) {
    case Shell::kBash:
      return BashScript(commands);
    case Shell::kZsh:
      return ZshScript(commands);
    case Shell::kFish:
      return FishScript(commands);
  }
  return "";
}

}  // namespace sail::driver
