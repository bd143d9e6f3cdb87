/* portable_inttypes.h: integers of fixed width and their printf formats, under the file name that clients of GASNet-EX
 * include. C99's inttypes.h has them all but the formats of size_t and ptrdiff_t, which C99 prints by z and t. */
#ifndef _PORTABLE_INTTYPES_H
#define _PORTABLE_INTTYPES_H
#ifndef _INTTYPES_DEFINED
#define _INTTYPES_DEFINED
#endif

#ifndef __STDC_FORMAT_MACROS
#define __STDC_FORMAT_MACROS 1
#endif
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#ifndef PRIuSZ
#define PRIdSZ "zd"
#define PRIiSZ "zi"
#define PRIoSZ "zo"
#define PRIuSZ "zu"
#define PRIxSZ "zx"
#define PRIXSZ "zX"
#endif
#ifndef PRIuPD
#define PRIdPD "td"
#define PRIiPD "ti"
#define PRIoPD "to"
#define PRIuPD "tu"
#define PRIxPD "tx"
#define PRIXPD "tX"
#endif

#endif
