// Objects of libibverbs, each destroyed by the function of its kind.
#pragma once

#include <memory>

namespace pinwire::verbs {

/// Deleters, so that what was made before a failure goes in the right order.
template <auto destroy>
struct Destroy {
  template <typename T>
  void operator()(T* object) const noexcept {
    destroy(object);
  }
};
template <typename T, auto destroy>
using Owned = std::unique_ptr<T, Destroy<destroy>>;

}  // namespace pinwire::verbs
