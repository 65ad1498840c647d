# Prints what bash completes: complete.sh SCRIPT WORD..., where the last word is the one being typed. Words are split as
# bash does: `=` is a word of its own.
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_sailc
printf '%s\n' "${COMPREPLY[@]}" | sort
