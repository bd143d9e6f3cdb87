/* Used by cases of GASNet-1 beside those of cases.h. */
#ifndef PINWIRE_CONFORM_GASNET1_H
#define PINWIRE_CONFORM_GASNET1_H

#include "../cases.h"

/* A handler of the shared job; `fn_index` is what gasnet_attach gave it ("don't care", C1-077). */
void add_handler(void (*function)(), gasnet_handler_t *index);
#define HANDLER(fn)                                                                                 \
  static gasnet_handler_t fn##_index;                                                               \
  __attribute__((constructor)) static void add_handler_##fn(void) {                                 \
    add_handler((void (*)())fn, &fn##_index);                                                       \
  }                                                                                                 \
  typedef int fn##_is_a_handler

/* init and attach of a JOB; ends the process when one fails. */
void start_job(gasnet_handlerentry_t *table, int entries, uintptr_t segment_bytes);

#endif
