/* The words of a program to the hook of hook.c, where that is there. */
#ifndef TESTS_NO_MALLOC_IN_SIGNALS_HOOK_H
#define TESTS_NO_MALLOC_IN_SIGNALS_HOOK_H

void client_allocates(int by) __attribute__((weak));

/* By a handler of the client's: 1 before it allocates or frees memory, -1 after. */
static inline void client_allocates_here(int by) {
  if (client_allocates) client_allocates(by);
}

#endif
