// Control-plane results: a value, or a sentence that a user can act on (what failed, on which
// device, the OS error, the likeliest fix). Never used on the data plane.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "core/base/check.h"

namespace pinwire {

struct Error {
  std::string sentence;
};

/// printf into an Error.
[[gnu::format(printf, 1, 2)]] Error error(const char* format, ...);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit
  Result(Error bad) : held_(std::in_place_index<1>, std::move(bad)) {}  // NOLINT: implicit
  bool ok() const noexcept { return held_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }
  T& operator*() noexcept { return value(); }
  T* operator->() noexcept { return &value(); }
  T& value() noexcept {
    check(ok(), "value of a failed Result");
    return *std::get_if<0>(&held_);
  }
  const std::string& sentence() const noexcept {
    check(!ok(), "sentence of a Result that succeeded");
    return std::get_if<1>(&held_)->sentence;
  }
  Error error() const { return Error{sentence()}; }

 private:
  std::variant<T, Error> held_;
};

struct Nothing {};
using Status = Result<Nothing>;
inline Status success() { return Nothing{}; }

}  // namespace pinwire
