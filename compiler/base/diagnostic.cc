#include "compiler/base/diagnostic.h"
