// The command line of `sailrun profile`.
#pragma once

namespace sail::rt {

// Whether `argv` asks for what ProfileMain does.
bool IsProfileCommand(int argc, char** argv);

// main() of `sailrun profile …`. Returns the exit code.
int ProfileMain(int argc, char** argv);

}  // namespace sail::rt
