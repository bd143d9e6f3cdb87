// An environment as one block of bytes, "NAME=value\0NAME=value\0".
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/bootstrap/wire.h"

namespace pinwire::bootstrap {

class EnvironmentBlock {
 public:
  EnvironmentBlock() = default;
  explicit EnvironmentBlock(const char* const* environment);
  /// A block that came from elsewhere; an unfinished last string is cut off.
  explicit EnvironmentBlock(Bytes block);
  const char* find(std::string_view name) const noexcept;
  Bytes bytes() const noexcept {
    return {reinterpret_cast<const std::byte*>(text_.data()), text_.size()};
  }

 private:
  std::vector<char> text_;
};

}  // namespace pinwire::bootstrap
