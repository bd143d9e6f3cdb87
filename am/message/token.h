// The facts that a handler can query about its message; lives on the stack of the dispatcher.
#pragma once

#include <cstdint>

#include "driver/work.h"

struct pinwire_token {
  pinwire::Rank source;
  uint32_t lane;  ///< of the driver: replies leave by the one that the request came on, whose lock
                  ///< is held
  bool is_request;
  bool replied;
  uint8_t handler;
  bool is_long;
  uint8_t endpoint;         ///< that it came to
  uint8_t source_endpoint;  ///< that it came from
};
