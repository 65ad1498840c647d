#include "runtime/engine/adamw.h"

#include <cmath>

namespace sail::rt {

template <class Real>
void AdamWUpdate(const ir::AdamW& options, bool decays, int64_t update, int64_t count, const Real* gradient,
                 Real* value, Real* first_moment, Real* second_moment) {
  const auto n = static_cast<double>(update);
  const auto beta1 = static_cast<Real>(options.beta1);
  const auto beta2 = static_cast<Real>(options.beta2);
  const auto rest1 = static_cast<Real>(1 - options.beta1);
  const auto rest2 = static_cast<Real>(1 - options.beta2);
  const auto step = static_cast<Real>(options.learning_rate / (1 - std::pow(options.beta1, n)));
  const auto correction2 = static_cast<Real>(1 / (1 - std::pow(options.beta2, n)));
  const auto epsilon = static_cast<Real>(options.epsilon);
  const auto keep = static_cast<Real>(decays ? 1 - options.learning_rate * options.weight_decay : 1.0);
  for (int64_t i = 0; i < count; ++i) {
    const Real g = gradient[i];
    const Real m = beta1 * first_moment[i] + rest1 * g;
    const Real v = beta2 * second_moment[i] + rest2 * g * g;
    first_moment[i] = m;
    second_moment[i] = v;
    value[i] = keep * value[i] - step * m / (std::sqrt(v * correction2) + epsilon);
  }
}

template void AdamWUpdate(const ir::AdamW&, bool, int64_t, int64_t, const float*, float*, float*, float*);
template void AdamWUpdate(const ir::AdamW&, bool, int64_t, int64_t, const double*, double*, double*, double*);

}  // namespace sail::rt
