// The front of a job as a picture: time against money.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/report.h"

namespace sail::driver {

// A mark for each point, the chosen one filled, and the step line below which no plan was found. At least one point.
std::string FrontPicture(const std::vector<ir::FrontPoint>& front);

}  // namespace sail::driver
