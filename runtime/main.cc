// sailrun: trains what a bundle describes, and measures the machine that it runs on.
#include "runtime/elastic/command_line.h"
#include "runtime/engine/trainer.h"
#include "runtime/profile/command_line.h"

int main(int argc, char** argv) {
  if (sail::rt::IsProfileCommand(argc, argv)) return sail::rt::ProfileMain(argc, argv);
  return sail::rt::SailrunMain(argc, argv, sail::rt::TrainRank);
}
