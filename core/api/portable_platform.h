/* portable_platform.h: the old file name of gasnet_portable_platform.h. */
#include "gasnet_portable_platform.h"
