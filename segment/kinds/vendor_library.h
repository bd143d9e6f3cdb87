// A vendor's library, loaded when it is first wanted, so that programs neither need nor load it
// otherwise, and builds need no toolkit.
#pragma once

#include <initializer_list>

#include "core/base/result.h"

namespace pinwire {

class VendorLibrary {
 public:
  /// The first of `names` that the dynamic linker finds. It stays until the process ends.
  static Result<VendorLibrary> load(std::initializer_list<const char*> names);

  /// Fills function pointers by name; afterwards missing() tells the first that was not there.
  template <typename Function>
  VendorLibrary& find(Function*& function, const char* symbol) noexcept {
    find_if_there(function, symbol);
    if (function == nullptr && missing_ == nullptr) missing_ = symbol;
    return *this;
  }
  /// nullptr where it is not.
  template <typename Function>
  void find_if_there(Function*& function, const char* symbol) const noexcept {
    function = reinterpret_cast<Function*>(address_of(symbol));
  }
  const char* missing() const noexcept { return missing_; }

 private:
  explicit VendorLibrary(void* handle) noexcept : handle_(handle) {}
  void* address_of(const char* symbol) const noexcept;

  void* handle_;
  const char* missing_ = nullptr;
};

}  // namespace pinwire
