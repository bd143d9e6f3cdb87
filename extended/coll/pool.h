// Operations for the next ones that are called: as many as were ever in progress at once.
#pragma once

#include "extended/coll/collective.h"

namespace pinwire {

/// Finished. Client context, of any thread.
void recycle(Collective& c) noexcept;

}  // namespace pinwire
