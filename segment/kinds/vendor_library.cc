#include "segment/kinds/vendor_library.h"

#include <dlfcn.h>

namespace pinwire {

Result<VendorLibrary> VendorLibrary::load(std::initializer_list<const char*> names) {
  std::string said;
  for (const char* name : names) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return VendorLibrary(handle);
    const char* why = dlerror();
    if (said.empty()) said = why != nullptr ? why : name;
  }
  return error("%s; install the device's driver, or name its folder in LD_LIBRARY_PATH",
               said.c_str());
}

void* VendorLibrary::address_of(const char* symbol) const noexcept {
  return dlsym(handle_, symbol);
}

}  // namespace pinwire
