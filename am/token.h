// What a handler knows of the message that it runs for; lives on the stack of the dispatcher.
#pragma once

#include <cstdint>

#include "driver/work.h"

struct pinwire_token {
  pinwire::Rank source;
  uint32_t lane;    ///< replies leave by the lane that the request came on: its lock is held
  bool is_request;
  bool replied;
};
