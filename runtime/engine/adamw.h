// AdamW (Loshchilov and Hutter 2019) on plain arrays:
//
//   m = β1·m + (1-β1)·g      v = β2·v + (1-β2)·g²      value -= lr·( m/(1-β1^n) / (sqrt(v/(1-β2^n)) + ε) + wd·value )
//
// with n the number of this update, from 1. Each element is computed by the same IEEE operations whatever its place in
// the array (the project is built without contraction into fused multiply-adds), so copies of a parameter that ranks
// hold in pieces of different size stay equal bit for bit.
#pragma once

#include <cstdint>

#include "compiler/ir/job.h"

namespace sail::rt {

template <class Real>  // float or double
void AdamWUpdate(const ir::AdamW& options, bool decays, int64_t update, int64_t count, const Real* gradient,
                 Real* value, Real* first_moment, Real* second_moment);

}  // namespace sail::rt
