/* gasnet.h: the GASNet-1 API, specification 1.8.1. Its parts are in pinwire_core.h, pinwire_am.h and
 * pinwire_rma.h, as gasnetex.h shows some of them, too. */
#ifndef _INCLUDED_GASNET_H
#define _INCLUDED_GASNET_H

#include "gasnetex.h" /* which includes them; hybrid programs use both (GX-001, GX-006) */

#endif
