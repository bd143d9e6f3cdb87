// An atomic domain (GX-154): what gex_AD_Create was told. The targets of its operations need not
// know it, so that neither making one nor ending one is a matter of talking.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/api_types.h"

struct pinwire_ad {
  pinwire_ad_team team{};  ///< first: the header's inlined operations read it
  gex_DT_t type = 0;
  gex_OP_t codes = 0;
  gex_Flags_t flags = 0;
  const void* client_data = nullptr;
  std::atomic<uint32_t> under_way{0};  ///< debug builds only
};
