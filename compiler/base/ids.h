// Typed indices: a PoolId is not a ZoneId, and neither is an int.
#pragma once

#include <compare>

#define SAIL_DEFINE_ID(Name)                                 \
  class Name {                                               \
   public:                                                   \
    explicit constexpr Name(int index) : index_(index) {}    \
    constexpr int index() const { return index_; }           \
    friend constexpr auto operator<=>(Name, Name) = default; \
                                                             \
   private:                                                  \
    int index_;                                              \
  }
