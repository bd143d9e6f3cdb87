/* pinwire_tools_heap.h: debug builds' own heap for clients, which finds writes behind a block's end, blocks that are freed
 * twice, and pointers that are none of its blocks: a sentence with the place of the call, and the end of the program.
 * Included by gasnet_tools.h only; other builds have no such names, as in GASNet-EX. */
#ifndef PINWIRE_TOOLS_HEAP_H
#define PINWIRE_TOOLS_HEAP_H

GASNETT_BEGIN_EXTERNC

void *pinwire_debug_malloc(size_t bytes, const char *file, int line);
void *pinwire_debug_calloc(size_t count, size_t bytes, const char *file, int line);
void *pinwire_debug_realloc(void *block, size_t bytes, const char *file, int line);
void pinwire_debug_free(void *block, const char *file, int line);
char *pinwire_debug_strdup(const char *text, const char *file, int line);
char *pinwire_debug_strndup(const char *text, size_t bytes, const char *file, int line);
void pinwire_debug_memcheck(const void *block, const char *file, int line);
void pinwire_debug_memcheck_one(const char *file, int line); /* another one at each call */
void pinwire_debug_memcheck_all(const char *file, int line);

#ifdef GASNET_DEBUG
#define GASNET_DEBUGMALLOC 1
#define gasnett_debug_malloc(bytes) pinwire_debug_malloc(bytes, __FILE__, __LINE__)
#define gasnett_debug_calloc(count, bytes) pinwire_debug_calloc(count, bytes, __FILE__, __LINE__)
#define gasnett_debug_realloc(block, bytes) pinwire_debug_realloc(block, bytes, __FILE__, __LINE__)
#define gasnett_debug_free(block) pinwire_debug_free(block, __FILE__, __LINE__)
#define gasnett_debug_strdup(text) pinwire_debug_strdup(text, __FILE__, __LINE__)
#define gasnett_debug_strndup(text, bytes) pinwire_debug_strndup(text, bytes, __FILE__, __LINE__)
#define gasnett_debug_memcheck(block) pinwire_debug_memcheck(block, __FILE__, __LINE__)
#define gasnett_debug_memcheck_one() pinwire_debug_memcheck_one(__FILE__, __LINE__)
#define gasnett_debug_memcheck_all() pinwire_debug_memcheck_all(__FILE__, __LINE__)
#endif

GASNETT_END_EXTERNC

#endif
