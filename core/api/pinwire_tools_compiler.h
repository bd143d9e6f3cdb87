/* pinwire_tools_compiler.h: annotations, branch hints and small preprocessor helpers. No mode and no
 * library: gasnet.h uses it as well as gasnet_tools.h. */
#ifndef PINWIRE_TOOLS_COMPILER_H
#define PINWIRE_TOOLS_COMPILER_H

#include "gasnet_config.h"
#include "gasnet_portable_platform.h"
#include "portable_inttypes.h"

#ifdef __cplusplus
#define GASNETT_EXTERNC extern "C"
#define GASNETT_BEGIN_EXTERNC extern "C" {
#define GASNETT_END_EXTERNC }
#define GASNETT_RESTRICT __restrict__
#else
#define GASNETT_EXTERNC extern
#define GASNETT_BEGIN_EXTERNC
#define GASNETT_END_EXTERNC
#define GASNETT_RESTRICT restrict
#endif

#ifndef _STRINGIFY
#define _STRINGIFY_HELPER(x) #x
#define _STRINGIFY(x) _STRINGIFY_HELPER(x)
#endif
#ifndef _CONCAT
#define _CONCAT_HELPER(a, b) a##b
#define _CONCAT(a, b) _CONCAT_HELPER(a, b)
#endif

#define PINWIRE_PASTE4_HELPER(a, b, c, d) a##b##c##d
#define PINWIRE_PASTE4(a, b, c, d) PINWIRE_PASTE4_HELPER(a, b, c, d)

/* ---- Functions --------------------------------------------------------------------------------- */

/* Forms that take a declaration: its commas make the macro variadic. */
#define GASNETT_INLINE(fn) static inline __attribute__((__always_inline__))
#define GASNETT_NEVER_INLINE(fn, ...) __attribute__((__noinline__)) __VA_ARGS__
#define GASNETT_FORMAT_PRINTF(fn, format_index, values_index, ...) \
  __attribute__((__format__(__printf__, format_index, values_index))) __VA_ARGS__
#define GASNETT_FORMAT_PRINTF_FUNCPTR(fn, format_index, values_index, ...) \
  __attribute__((__format__(__printf__, format_index, values_index))) __VA_ARGS__

#define GASNETT_NORETURN __attribute__((__noreturn__))
#define GASNETT_NORETURNP(fn)
#define GASNETT_MALLOC __attribute__((__malloc__))
#define GASNETT_MALLOCP(fn)
#define GASNETT_PURE __attribute__((__pure__))
#define GASNETT_PUREP(fn)
#define GASNETT_CONST __attribute__((__const__))
#define GASNETT_CONSTP(fn)
#define GASNETT_HOT __attribute__((__hot__))
#define GASNETT_COLD __attribute__((__cold__))
#define GASNETT_DEPRECATED __attribute__((__deprecated__))
#define GASNETT_WARN_UNUSED_RESULT __attribute__((__warn_unused_result__))
#define GASNETT_USED __attribute__((__used__))
#define GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC 1

/* The semicolon is part of it. */
#if defined(__cplusplus) && __cplusplus >= 201703L
#define GASNETT_FALLTHROUGH [[fallthrough]];
#else
#define GASNETT_FALLTHROUGH __attribute__((__fallthrough__));
#endif

/* Kept also by a linker that drops what nobody refers to. */
#ifdef __has_attribute
#if __has_attribute(__retain__)
#define PINWIRE_RETAIN __attribute__((__used__, __retain__))
#endif
#endif
#ifndef PINWIRE_RETAIN
#define PINWIRE_RETAIN __attribute__((__used__))
#endif

/* At file scope: puts a text into the object, where ident(1) and launch wrappers look for it. */
#define GASNETT_IDENT(name, text) static const char name[] PINWIRE_RETAIN = text

/* ---- Expressions ------------------------------------------------------------------------------- */

#define GASNETT_PREDICT_TRUE(condition) __builtin_expect(!!(condition), 1)
#define GASNETT_PREDICT_FALSE(condition) __builtin_expect(!!(condition), 0)
#ifndef PREDICT_TRUE
#define PREDICT_TRUE(condition) GASNETT_PREDICT_TRUE(condition)
#define PREDICT_FALSE(condition) GASNETT_PREDICT_FALSE(condition)
#endif
#ifndef if_pf
#define if_pf(condition) if (GASNETT_PREDICT_FALSE(condition))
#define if_pt(condition) if (GASNETT_PREDICT_TRUE(condition))
#endif

#define GASNETT_CURRENT_FUNCTION __func__
#define gasnett_constant_p(value) __builtin_constant_p(value)
#define gasnett_unreachable() __builtin_unreachable()
#ifdef GASNET_DEBUG
#define gasnett_assume(condition) \
  ((condition) ? (void)0 : (void)gasnett_fatalerror("assumption is false: %s", #condition))
#else
#define gasnett_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif

/* An expression: each argument evaluated once, and none used. */
#define GASNETT_UNUSED_ARGS1(a) (__extension__({ (void)0; (void)(a); }))
#define GASNETT_UNUSED_ARGS2(a, b) (__extension__({ (void)(a); (void)(b); }))
#define GASNETT_UNUSED_ARGS3(a, b, c) (__extension__({ (void)(a); (void)(b); (void)(c); }))
#define GASNETT_UNUSED_ARGS4(a, b, c, d) \
  (__extension__({ (void)(a); (void)(b); (void)(c); (void)(d); }))
#define GASNETT_UNUSED_ARGS5(a, b, c, d, e) \
  (__extension__({ (void)(a); (void)(b); (void)(c); (void)(d); (void)(e); }))
#define GASNETT_UNUSED_ARGS6(a, b, c, d, e, f) \
  (__extension__({ (void)(a); (void)(b); (void)(c); (void)(d); (void)(e); (void)(f); }))
#define GASNETT_UNUSED_ARGS7(a, b, c, d, e, f, g) \
  (__extension__({ (void)(a); (void)(b); (void)(c); (void)(d); (void)(e); (void)(f); (void)(g); }))
#define GASNETT_UNUSED_ARGS8(a, b, c, d, e, f, g, h) \
  (__extension__({ (void)(a); (void)(b); (void)(c); (void)(d); (void)(e); (void)(f); (void)(g); (void)(h); }))

/* ---- Machine ----------------------------------------------------------------------------------- */

#define GASNETT_CACHE_LINE_BYTES 64
#define GASNETT_PAGESIZE 4096 /* of the smallest pages */
#define GASNETT_PAGESHIFT 12
#define GASNETT_SYSTEM_TUPLE PINWIRE_SYSTEM_TUPLE

#endif
