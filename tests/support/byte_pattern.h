/* Payloads of test programs, in C and C++: every byte depends on the seed and on all of its
 * position, so that no period hides blocks that were swapped or that arrived twice. */
#ifndef PINWIRE_BYTE_PATTERN_H
#define PINWIRE_BYTE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* This is the finalizer of splitmix64. */
static inline unsigned char byte_of_pattern(unsigned seed, size_t at) {
  uint64_t bits = ((uint64_t)seed << 32) + at + 0x9e3779b97f4a7c15u;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  return (unsigned char)(bits >> 56);
}
static inline void fill_pattern(void *memory, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i) ((unsigned char *)memory)[i] = byte_of_pattern(seed, i);
}
static inline int holds_pattern(const void *memory, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i)
    if (((const unsigned char *)memory)[i] != byte_of_pattern(seed, i)) return 0;
  return 1;
}

#endif
