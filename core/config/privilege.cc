#include "core/config/privilege.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace pinwire {
namespace {

constexpr const char* kUnheeded[] = {"GASNET_EAL_ARGS", "GASNET_STATSFILE", "GASNET_TRACEFILE"};

bool is_unheeded(std::string_view name) {
  return std::find(std::begin(kUnheeded), std::end(kUnheeded), name) != std::end(kUnheeded);
}

}  // namespace

Lookup heeded(Lookup lookup, bool privileged) {
  if (!privileged) return lookup;
  return [lookup = std::move(lookup)](const char* name) {
    return is_unheeded(name) ? nullptr : lookup(name);
  };
}

std::vector<std::string> warnings_of_privilege(const Lookup& lookup, bool privileged) {
  std::vector<std::string> warnings;
  for (const char* name : kUnheeded) {
    const char* value = privileged ? lookup(name) : nullptr;
    if (value == nullptr || *value == '\0') continue;
    warnings.push_back(std::string(name) +
                       " has no effect: this program may do more than its user (it is set-user-id "
                       "or set-group-id, or its file has capabilities)");
  }
  return warnings;
}

}  // namespace pinwire
