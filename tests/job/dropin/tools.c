/* A program of GASNet's tools alone, without a job: C99 and C++. */
#include <stdio.h>

#include "gasnet_tools.h"

GASNETT_THREADKEY_DEFINE(tools_key);
static gasnett_mutex_t tools_lock = GASNETT_MUTEX_INITIALIZER;
static gasnett_atomic_t tools_count = gasnett_atomic_init(41);

int main(void) {
  const gasnett_tick_t start = gasnett_ticks_now();
  char text[32];
  int key;
  gasnett_mutex_lock(&tools_lock);
  gasnett_threadkey_set(tools_key, &key);
  gasnett_atomic_increment(&tools_count, GASNETT_ATOMIC_REL);
  gasnett_mutex_unlock(&tools_lock);
  if (gasnett_atomic_read(&tools_count, 0) != 42 || gasnett_threadkey_get(tools_key) != (void *)&key) return 1;
  if (gasnett_nsleep(1000) != 0 || gasnett_ticks_to_ns(gasnett_ticks_now() - start) < 1000) return 2;
  if (gasnett_parse_int(gasnett_format_number(65536, text, sizeof text, 1), 1) != 65536) return 3;
  printf("tools: %s %s: ok\n", _STRINGIFY(GASNETT_THREAD_MODEL), gasnett_release_version_str());
  return 0;
}
