// All that is known about a specification once it is checked; what later questions (assertions about a plan, `sailc
// expand`, editors) are answered from. Addresses in it are stable.
#pragma once

#include <memory>
#include <vector>

#include "compiler/passes/checked_block.h"
#include "compiler/passes/evaluate.h"
#include "compiler/passes/expand.h"
#include "compiler/passes/modules.h"

namespace sail {

struct Analysis {
  ModuleSet modules;
  std::vector<Definition> definitions;
  std::unique_ptr<Evaluator> evaluator;
  std::unique_ptr<Expander> expander;
  CheckedBlocks blocks;
};

}  // namespace sail
