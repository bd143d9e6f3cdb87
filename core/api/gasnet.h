/* gasnet.h: the GASNet-1 API, specification 1.8.1. Its parts are in pinwire_core.h, pinwire_am.h and
 * pinwire_rma.h, as gasnetex.h shows some of them, too. */
#ifndef _INCLUDED_GASNET_H
#define _INCLUDED_GASNET_H

#include "gasnetex.h" /* which includes them; hybrid programs use both (GX-001, GX-006) */

/* ---- What GASNet-EX's gasnet.h has beyond the specification ------------------------------------------- */

/* Requests and replies that count their arguments. */
#define gasnet_AMRequestShort(...) PINWIRE_CALL(gasnet_AMRequestShort, PINWIRE_COUNT_AFTER_2(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMRequestMedium(...) PINWIRE_CALL(gasnet_AMRequestMedium, PINWIRE_COUNT_AFTER_4(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMRequestLong(...) PINWIRE_CALL(gasnet_AMRequestLong, PINWIRE_COUNT_AFTER_5(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMRequestLongAsync(...) PINWIRE_CALL(gasnet_AMRequestLongAsync, PINWIRE_COUNT_AFTER_5(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMReplyShort(...) PINWIRE_CALL(gasnet_AMReplyShort, PINWIRE_COUNT_AFTER_2(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMReplyMedium(...) PINWIRE_CALL(gasnet_AMReplyMedium, PINWIRE_COUNT_AFTER_4(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMReplyLong(...) PINWIRE_CALL(gasnet_AMReplyLong, PINWIRE_COUNT_AFTER_5(__VA_ARGS__))(__VA_ARGS__)

/* Tests that do not serve the network, if what they test is complete. */
#define gasnet_try_syncnb_nopoll(handle) gex_Event_Test(handle)
#define gasnet_try_syncnb_some_nopoll(handles, numhandles) gex_Event_TestSome(handles, numhandles, 0)
#define gasnet_try_syncnb_all_nopoll(handles, numhandles) gex_Event_TestAll(handles, numhandles, 0)

#endif
