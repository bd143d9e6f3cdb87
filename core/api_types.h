// The public C headers as the library itself sees them: types, and the data that inlined calls
// read.
#pragma once

#include "core/mode.h"

// The headers want the client's choice of mode; nothing that depends on it is used inside.
#define PINWIRE_LIBRARY 1  // not one of its clients
#define GASNET_PAR 1
#include "core/api/gasnet.h"
#include "core/api/gasnet_coll.h"
#include "core/api/gasnet_mk.h"
#include "core/api/gasnet_ratomic.h"
#include "core/api/gasnet_vis.h"
#include "core/api/gasnetex.h"
#include "core/api/pinwire.h"
