/* Statistics of the library, by name, for programs of tests in C99 and C++. */
#ifndef PINWIRE_STATISTIC_H
#define PINWIRE_STATISTIC_H

#include <string.h>

#include "pinwire.h"

/* 0: nothing is counted under this name. */
static inline int find_statistic(const char *name, uint64_t *value) {
  enum { kStatisticsMax = 256 };
  pinwire_stat_t all[kStatisticsMax];
  const size_t count = pinwire_stats(all, kStatisticsMax);
  for (size_t i = 0; i < count && count <= kStatisticsMax; ++i) {
    if (strcmp(all[i].name, name) != 0) continue;
    *value = all[i].value;
    return 1;
  }
  return 0;
}

#endif
