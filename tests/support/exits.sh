#!/bin/sh
# exits.sh CODE COMMAND...: runs the command and succeeds if it ends with CODE.
expected=$1
shift
"$@"
code=$?
[ "$code" = "$expected" ] && exit 0
echo "exit code $code, expected $expected: $*" >&2
exit 1
