#include "driver/verbs/connect/connection_manager.h"

namespace pinwire::verbs {

bool has_connection_manager() noexcept { return false; }

Result<std::unique_ptr<ConnectionManager>> make_connection_manager(const Device& device,
                                                                   const std::string&,
                                                                   ConnectionManager::Setting) {
  return error("%s is iWARP, whose connections librdmacm makes: this build has none",
               device.name.c_str());
}

}  // namespace pinwire::verbs
