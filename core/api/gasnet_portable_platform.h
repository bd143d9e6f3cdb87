/* gasnet_portable_platform.h: compiler, system and architecture under uniform names, as GASNet's clients
 * know them. Each PLATFORM_<KIND>_<NAME> is 1 or undefined. */

/* Other packages bring headers with these names, too. The newest of several counts: definitions of an older one are
 * undefined, and after a newer one, or this one, this one defines nothing. */
#if !defined(_PORTABLE_PLATFORM_H) || !defined(PLATFORM_HEADER_VERSION) || PLATFORM_HEADER_VERSION < 24
#undef PLATFORM_HEADER_VERSION
#define PLATFORM_HEADER_VERSION 24
#undef _PORTABLE_PLATFORM_H
#define _PORTABLE_PLATFORM_H PLATFORM_HEADER_VERSION
#undef PLATFORM_STRINGIFY
#undef PLATFORM_COMPILER_VERSION_INT
#undef PLATFORM_COMPILER_CLANG
#undef PLATFORM_COMPILER_CLANG_CXX
#undef PLATFORM_COMPILER_CLANG_C
#undef PLATFORM_COMPILER_FAMILYNAME
#undef PLATFORM_COMPILER_FAMILYID
#undef PLATFORM_COMPILER_VERSION
#undef PLATFORM_COMPILER_VERSION_STR
#undef PLATFORM_COMPILER_GNU
#undef PLATFORM_COMPILER_GNU_CXX
#undef PLATFORM_COMPILER_GNU_C
#undef PLATFORM_COMPILER_ID
#undef PLATFORM_COMPILER_IDSTR
#undef PLATFORM_COMPILER_CXX_LANGLVL
#undef PLATFORM_COMPILER_C_LANGLVL
#undef PLATFORM_COMPILER_VERSION_GT
#undef PLATFORM_COMPILER_VERSION_GE
#undef PLATFORM_COMPILER_VERSION_EQ
#undef PLATFORM_COMPILER_VERSION_LE
#undef PLATFORM_COMPILER_VERSION_LT
#undef PLATFORM_OS_LINUX
#undef PLATFORM_OS_FAMILYNAME
#undef PLATFORM_ARCH_X86_64
#undef PLATFORM_ARCH_FAMILYNAME
#undef PLATFORM_ARCH_AARCH64
#undef PLATFORM_ARCH_POWERPC
#undef PLATFORM_ARCH_RISCV
#undef PLATFORM_ARCH_UNKNOWN
#undef PLATFORM_ARCH_64
#undef PLATFORM_ARCH_LITTLE_ENDIAN
#undef PLATFORM_ARCH_BIG_ENDIAN

#undef PINWIRE_PLATFORM_STRINGIFY
#define PINWIRE_PLATFORM_STRINGIFY(x) #x
#define PLATFORM_STRINGIFY(x) PINWIRE_PLATFORM_STRINGIFY(x)

/* ---- Compiler ---------------------------------------------------------------------------------- */

#define PLATFORM_COMPILER_VERSION_INT(maj, min, pat) (((maj) << 16) | ((min) << 8) | (pat))

#if defined(__clang__)
#define PLATFORM_COMPILER_CLANG 1
#ifdef __cplusplus
#define PLATFORM_COMPILER_CLANG_CXX 1
#else
#define PLATFORM_COMPILER_CLANG_C 1
#endif
#define PLATFORM_COMPILER_FAMILYNAME CLANG
#define PLATFORM_COMPILER_FAMILYID 19
#define PLATFORM_COMPILER_VERSION \
  PLATFORM_COMPILER_VERSION_INT(__clang_major__, __clang_minor__, __clang_patchlevel__)
#define PLATFORM_COMPILER_VERSION_STR __clang_version__
#elif defined(__GNUC__)
#define PLATFORM_COMPILER_GNU 1
#ifdef __cplusplus
#define PLATFORM_COMPILER_GNU_CXX 1
#else
#define PLATFORM_COMPILER_GNU_C 1
#endif
#define PLATFORM_COMPILER_FAMILYNAME GNU
#define PLATFORM_COMPILER_FAMILYID 1
#define PLATFORM_COMPILER_VERSION \
  PLATFORM_COMPILER_VERSION_INT(__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__)
#define PLATFORM_COMPILER_VERSION_STR __VERSION__
#else
#error "Pinwire's headers need GCC, clang or a compiler that takes their extensions"
#endif

#define PLATFORM_COMPILER_ID PLATFORM_COMPILER_FAMILYID
#define PLATFORM_COMPILER_IDSTR                                                 \
  "|COMPILER_FAMILY:" PLATFORM_STRINGIFY(PLATFORM_COMPILER_FAMILYNAME)          \
  "|COMPILER_VERSION:" PLATFORM_COMPILER_VERSION_STR                            \
  "|COMPILER_FAMILYID:" PLATFORM_STRINGIFY(PLATFORM_COMPILER_FAMILYID)
#ifdef __cplusplus
#define PLATFORM_COMPILER_CXX_LANGLVL __cplusplus
#else
#define PLATFORM_COMPILER_C_LANGLVL __STDC_VERSION__
#endif

#define PLATFORM_COMPILER_VERSION_GT(maj, min, pat) \
  (PLATFORM_COMPILER_VERSION > PLATFORM_COMPILER_VERSION_INT(maj, min, pat))
#define PLATFORM_COMPILER_VERSION_GE(maj, min, pat) \
  (PLATFORM_COMPILER_VERSION >= PLATFORM_COMPILER_VERSION_INT(maj, min, pat))
#define PLATFORM_COMPILER_VERSION_EQ(maj, min, pat) \
  (PLATFORM_COMPILER_VERSION == PLATFORM_COMPILER_VERSION_INT(maj, min, pat))
#define PLATFORM_COMPILER_VERSION_LE(maj, min, pat) \
  (PLATFORM_COMPILER_VERSION <= PLATFORM_COMPILER_VERSION_INT(maj, min, pat))
#define PLATFORM_COMPILER_VERSION_LT(maj, min, pat) \
  (PLATFORM_COMPILER_VERSION < PLATFORM_COMPILER_VERSION_INT(maj, min, pat))

/* ---- System ------------------------------------------------------------------------------------ */

#ifndef __linux__
#error "Pinwire runs on Linux"
#endif
#define PLATFORM_OS_LINUX 1
#define PLATFORM_OS_FAMILYNAME LINUX

/* ---- Architecture ------------------------------------------------------------------------------ */

#if defined(__x86_64__)
#define PLATFORM_ARCH_X86_64 1
#define PLATFORM_ARCH_FAMILYNAME X86_64
#elif defined(__aarch64__)
#define PLATFORM_ARCH_AARCH64 1
#define PLATFORM_ARCH_FAMILYNAME AARCH64
#elif defined(__powerpc64__)
#define PLATFORM_ARCH_POWERPC 1
#define PLATFORM_ARCH_FAMILYNAME POWERPC
#elif defined(__riscv)
#define PLATFORM_ARCH_RISCV 1
#define PLATFORM_ARCH_FAMILYNAME RISCV
#else
#define PLATFORM_ARCH_UNKNOWN 1
#define PLATFORM_ARCH_FAMILYNAME UNKNOWN
#endif

#if __SIZEOF_POINTER__ == 8
#define PLATFORM_ARCH_64 1
#else
#error "Pinwire runs on machines with pointers of 64 bits"
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PLATFORM_ARCH_LITTLE_ENDIAN 1
#else
#define PLATFORM_ARCH_BIG_ENDIAN 1
#endif

#endif
