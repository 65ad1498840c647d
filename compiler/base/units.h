// Physical quantities as types. Only meaningful operators exist: Bytes / BytesPerSecond is Seconds, and
// Seconds * Seconds does not compile. Construction and .value() are explicit and easy to search for.
// Inside the language values are exact rationals (rational.h); they become these types once, when a spec is lowered.
#pragma once

#include <compare>
#include <cstdint>

#include "compiler/base/check.h"

namespace sail {

// A double in base units (seconds, USD, bytes per second, …).
template <class Tag>
class Quantity {
 public:
  explicit constexpr Quantity(double value) : value_(value) {}
  static constexpr Quantity Zero() { return Quantity(0); }
  constexpr double value() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity(a.value_ * k); }
  friend constexpr Quantity operator*(double k, Quantity a) { return Quantity(a.value_ * k); }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity(a.value_ / k); }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  double value_;
};

using Seconds = Quantity<struct SecondsTag>;
using Flops = Quantity<struct FlopsTag>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondTag>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag>;
using Usd = Quantity<struct UsdTag>;
using UsdPerSecond = Quantity<struct UsdPerSecondTag>;
using UsdPerByte = Quantity<struct UsdPerByteTag>;

// A whole number of bytes; every operation is checked for overflow.
class Bytes {
 public:
  explicit constexpr Bytes(int64_t value) : value_(value) {}
  static constexpr Bytes Zero() { return Bytes(0); }
  constexpr int64_t value() const { return value_; }

  friend Bytes operator+(Bytes a, Bytes b) {
    int64_t sum = 0;
    SAIL_CHECK(!__builtin_add_overflow(a.value_, b.value_, &sum)) << a.value_ << " + " << b.value_;
    return Bytes(sum);
  }
  friend Bytes operator-(Bytes a, Bytes b) { return a + Bytes(-b.value_); }
  friend Bytes operator*(Bytes a, int64_t k) {
    int64_t product = 0;
    SAIL_CHECK(!__builtin_mul_overflow(a.value_, k, &product)) << a.value_ << " * " << k;
    return Bytes(product);
  }
  friend Bytes operator*(int64_t k, Bytes a) { return a * k; }
  Bytes& operator+=(Bytes other) { return *this = *this + other; }
  friend constexpr auto operator<=>(Bytes, Bytes) = default;

 private:
  int64_t value_;
};

constexpr Seconds operator/(Bytes bytes, BytesPerSecond rate) {
  return Seconds(static_cast<double>(bytes.value()) / rate.value());
}
constexpr Seconds operator/(Flops work, FlopsPerSecond rate) { return Seconds(work.value() / rate.value()); }
constexpr Usd operator*(UsdPerSecond rate, Seconds time) { return Usd(rate.value() * time.value()); }
constexpr Usd operator*(UsdPerByte price, Bytes bytes) {
  return Usd(price.value() * static_cast<double>(bytes.value()));
}
constexpr UsdPerSecond UsdPerHour(double value) { return UsdPerSecond(value / 3600.0); }

}  // namespace sail
