// Which library this is: for programs, for linkers, and for those who read the binary.
#include "core/tools/api.h"

using namespace pinwire;

extern "C" {

/// Referred to by every client's object: one of the other kind does not link.
[[gnu::used]] const char PINWIRE_TOOLS_CHECKED = 1;

const char* gasnett_release_version_str() { return PINWIRE_RELEASE_STRING; }

uint64_t gasnett_release_version() {
  return GASNET_RELEASE_VERSION_MAJOR * uint64_t{1'000'000} +
         GASNET_RELEASE_VERSION_MINOR * 10'000 + GASNET_RELEASE_VERSION_PATCH;
}

const char* gasnett_performance_warning_str() {
  return kDebugTools ? "        debugging: checks of every call\n" : "";
}

}  // extern "C"
