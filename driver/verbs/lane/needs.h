// Whether a device has enough of everything for this rank: found out at start, with numbers.
#pragma once

#include "driver/driver.h"
#include "driver/verbs/device/device.h"

namespace pinwire::verbs {

/// The least that a queue may hold.
inline constexpr uint32_t kDepthMin = 32;
/// Entries of the completion queue of what is sent, kept for asking after what completes silently.
inline constexpr uint32_t kCompletionsKept = 64;

/// Whether the device's connections can be closed and made anew, so that a bound of them holds; 0:
/// no bound.
Status check_bound(const Device& device, uint32_t peers_max);
inline constexpr const char* kBoundAdvice =
    "unset GASNET_QP_MAX, or choose another device with GASNET_VERBS_DEVICE";

Status check_needs(const Device& device, const OpenInfo& info);

}  // namespace pinwire::verbs
