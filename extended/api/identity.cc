#include "extended/api/identity.h"

#include <cstring>
#include <string_view>

#include "core/api_types.h"

#define LIBRARY_OF_MODE \
  PINWIRE_PASTE4(pinwire_compiled_for_, PINWIRE_LIBRARY_MODE, _, PINWIRE_BUILD_TOKEN)
#define EX_SPEC_STRING _STRINGIFY(GEX_SPEC_VERSION_MAJOR) "." _STRINGIFY(GEX_SPEC_VERSION_MINOR)
#define MODE_STRING _STRINGIFY(PINWIRE_LIBRARY_MODE)

extern "C" {
/// Every client refers to the one of its mode, build and release.
extern const char LIBRARY_OF_MODE;
const char LIBRARY_OF_MODE = 1;

/// The section that the clients' objects fill; weak: a library without a client has none.
extern const pinwire_unit __start_pinwire_units[] [[gnu::weak]];
extern const pinwire_unit __stop_pinwire_units[] [[gnu::weak]];
}

namespace pinwire {
namespace {

/// For ident(1), GASNet's launchers and test scripts. The segment kind is the client's choice: here
/// stands the default, and in the objects of a client that chose another, its own.
[[gnu::used]] constexpr char kIdents[] = "$GASNetConduitName: " GASNET_CONDUIT_NAME_STR
                                         " $\0"
                                         "$GASNetThreadModel: GASNET_" MODE_STRING
                                         " $\0"
                                         "$GASNetAPIVersion: 1 $\0"
                                         "$GASNetEXAPIVersion: " EX_SPEC_STRING
                                         " $\0"
                                         "$GASNetConfig: (libgasnet.a) " PINWIRE_CONFIG_OF(
                                             MODE_STRING, "FAST", "pshm") " $\0"
                                         "$GASNetSegment: GASNET_SEGMENT_FAST $\0"
                                         "$GASNetBuildId: " GASNETI_BUILD_ID
                                         " $\0"
                                         "$GASNetConfigureArgs: " GASNETI_CONFIGURE_ARGS
                                         " $\0"
                                         "$GASNetCoreLibraryName: " GASNET_CONDUIT_NAME_STR
                                         " $\0"
                                         "$GASNetCoreLibraryVersion: " PINWIRE_RELEASE_STRING
                                         " $\0"
                                         "$GASNetExtendedLibraryName: " GASNET_CONDUIT_NAME_STR
                                         " $\0"
                                         "$GASNetExtendedLibraryVersion: " PINWIRE_RELEASE_STRING
                                         " $\0"
                                         "$GASNetPSHM: pinwire $\0"
                                         "$GASNetSystemTuple: " GASNETT_SYSTEM_TUPLE
                                         " $\0"
                                         "$GASNetCompilerID: " PLATFORM_COMPILER_IDSTR
                                         " $\0"
                                         "$GASNetFORKSpawner: 1 $\0"
                                         "$GASNetSSHSpawner: 1 $\0"
                                         "$GASNetPMISpawner: 1 $";

}  // namespace

Status check_units(const char* config) {
  for (const pinwire_unit* unit = __start_pinwire_units; unit != __stop_pinwire_units; ++unit) {
    const std::string_view other = unit->config;
    if (other == config) continue;
    return error("objects of this program were compiled for %s and for %.*s; compile all alike",
                 config, static_cast<int>(other.size()), other.data());
  }
  return success();
}

void keep_idents() noexcept { asm volatile("" : : "r"(kIdents)); }

}  // namespace pinwire
