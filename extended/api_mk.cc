// gasnet_mk.h: the C entry points of memory kinds (EX-043 to EX-052).
#include "core/base/log.h"
#include "extended/objects.h"

using namespace pinwire;

extern "C" {

int gex_MK_Create(gex_MK_t* kind_p, gex_Client_t client, const gex_MK_Create_args_t* args,
                  gex_Flags_t flags) {
  static constexpr const char* kClasses[] = {"HOST", "CUDA_UVA", "HIP", "ZE"};
  if (kind_p == nullptr || client == GEX_CLIENT_INVALID || args == nullptr || flags != 0 ||
      args->gex_flags != 0) {
    return api_error(GASNET_ERR_BAD_ARG,
                     "gex_MK_Create takes a client, arguments, where to write the kind, and no flags "
                     "(EX-047)");
  }
  if (args->gex_class == GEX_MK_CLASS_HOST) {
    *kind_p = GEX_MK_HOST;
    return GASNET_OK;
  }
  const auto index = static_cast<size_t>(args->gex_class);
  return api_error(GASNET_ERR_BAD_ARG,
                   "gex_MK_Create: this build has no kind GEX_MK_CLASS_%s; it has HOST (EX-047)",
                   index < std::size(kClasses) ? kClasses[index] : "?");
}

void gex_MK_Destroy(gex_MK_t kind, gex_Flags_t) {
  if (kind != GEX_MK_HOST) fatal("gex_MK_Destroy takes what gex_MK_Create made (EX-047)");
}

}  // extern "C"
