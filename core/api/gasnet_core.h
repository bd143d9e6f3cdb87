/* pinwire-conduit/gasnet_core.h: where build systems look for the conduit. Everything is in gasnet.h. */
#include "gasnet.h"
