// sailrun: trains what a bundle describes.
#include "runtime/elastic/command_line.h"
#include "runtime/engine/trainer.h"

int main(int argc, char** argv) { return sail::rt::SailrunMain(argc, argv, sail::rt::TrainRank); }
