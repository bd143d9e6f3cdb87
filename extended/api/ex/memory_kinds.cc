// gasnet_mk.h: the C entry points of memory kinds (EX-043 to EX-052).
#include <cstring>
#include <iterator>
#include <type_traits>

#include "am/interrupts/interrupts.h"
#include "core/base/log.h"
#include "extended/state/job.h"
#include "extended/state/objects.h"

using namespace pinwire;

namespace {

constexpr const char* kClasses[] = {"HOST", "CUDA_UVA", "HIP", "ZE"};

/// As a number: a C client may say one that the enumeration does not have.
size_t class_of(const gex_MK_Create_args_t& args) noexcept {
  std::underlying_type_t<gex_MK_Class_t> number;
  std::memcpy(&number, &args.gex_class, sizeof number);
  return number;
}

Result<DeviceMemory*> open_device(const gex_MK_Create_args_t& args) {
  // Handlers copy, and may do so in signals there.
  const DispatchMode dispatch = job()->settings.dispatch;
  if (dispatch == DispatchMode::kInterrupt || dispatch == DispatchMode::kWatchdog) {
    return error(
        "devices' libraries may not be called in signals; choose GASNET_DISPATCH=poll, thread or "
        "nicproc");
  }
  switch (class_of(args)) {
    case GEX_MK_CLASS_CUDA_UVA:
      return open_cuda(args.gex_args.gex_class_cuda_uva.gex_CUdevice);
    case GEX_MK_CLASS_HIP:
      return open_hip(args.gex_args.gex_class_hip.gex_hipDevice);
    case GEX_MK_CLASS_ZE: {
      const auto& ze = args.gex_args.gex_class_ze;
      return open_ze(ze.gex_zeDevice, ze.gex_zeContext, ze.gex_zeMemoryOrdinal);
    }
    default:
      return error("there is no such class");
  }
}

pinwire_mk& created(const char* call, gex_MK_t kind) noexcept {
  if (kind == GEX_MK_INVALID || kind == GEX_MK_HOST) {
    fatal("%s takes what gex_MK_Create made, and not GEX_MK_HOST", call);
  }
  return *kind;
}

}  // namespace

extern "C" {

int gex_MK_Create(gex_MK_t* kind_p, gex_Client_t client, const gex_MK_Create_args_t* args,
                  gex_Flags_t flags) {
  const RareCall inside;
  if (kind_p == nullptr || client == GEX_CLIENT_INVALID || args == nullptr || flags != 0 ||
      args->gex_flags != 0) {
    return api_error(
        GASNET_ERR_BAD_ARG,
        "gex_MK_Create takes a client, arguments, where to write the kind, and no flags "
        "(EX-047)");
  }
  const size_t index = class_of(*args);
  if (index == GEX_MK_CLASS_HOST) {
    *kind_p = GEX_MK_HOST;
    return GASNET_OK;
  }
  auto device = open_device(*args);
  if (!device) {
    return api_error(
        GASNET_ERR_BAD_ARG, "gex_MK_Create: GEX_MK_CLASS_%s cannot be had here: %s (EX-047)",
        index < std::size(kClasses) ? kClasses[index] : "?", device.sentence().c_str());
  }
  auto* kind = new pinwire_mk;
  kind->client = client;
  kind->kind_class = args->gex_class;
  kind->device.reset(*device);
  *kind_p = kind;
  return GASNET_OK;
}

void gex_MK_Destroy(gex_MK_t kind, gex_Flags_t flags) {
  const RareCall inside;
  if (kind == GEX_MK_INVALID || flags != 0) {
    fatal("gex_MK_Destroy takes what gex_MK_Create made, and no flags (EX-047)");
  }
  if (kind == GEX_MK_HOST) return;
  if (const uint32_t count = kind->segments.load(std::memory_order_relaxed)) {
    fatal(
        "gex_MK_Destroy of a kind of %s, of which there are %u segment(s); destroy these first "
        "(EX-051)",
        kind->device->label(), count);
  }
  delete kind;
}

void gex_MK_SetCData(gex_MK_t kind, const void* val) {
  created("gex_MK_SetCData", kind).client_data.set(val);
}
void* gex_MK_QueryCData(gex_MK_t kind) {
  return created("gex_MK_QueryCData", kind).client_data.get();
}
gex_Flags_t gex_MK_QueryFlags(gex_MK_t kind) {
  created("gex_MK_QueryFlags", kind);
  return 0;  // gex_MK_Create takes none
}
gex_Client_t gex_MK_QueryClient(gex_MK_t kind) {
  return created("gex_MK_QueryClient", kind).client;
}
gex_MK_Class_t gex_MK_QueryClass(gex_MK_t kind) {
  return created("gex_MK_QueryClass", kind).kind_class;
}

}  // extern "C"
