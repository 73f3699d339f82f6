// Result<T>: a T or the Status that says why there is none. Member names follow std::expected, so that a later swap is
// mechanical.
#pragma once

#include <optional>
#include <utility>

#include "base/check.hpp"
#include "base/status.hpp"

namespace baton {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                                       // NOLINT: a value is a result
  Result(Status status) : status_(std::move(status)) { BATON_CHECK(!status_.ok()); }  // NOLINT: a failure is a result

  bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }

  T& value() & { return *checked(); }
  const T& value() const& { return *const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(*checked()); }
  T& operator*() & { return *checked(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*checked()); }
  T* operator->() { return checked(); }
  const T* operator->() const { return const_cast<Result*>(this)->checked(); }

  Status& error() & { return status_; }
  const Status& error() const& { return status_; }
  Status&& error() && { return std::move(status_); }

 private:
  T* checked() {
    BATON_CHECK(value_.has_value());
    return &*value_;
  }

  std::optional<T> value_;
  Status status_;
};

}  // namespace baton
