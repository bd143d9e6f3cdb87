/* Devices for tests: memory whose addresses the CPU may not touch, so that whoever does crashes. Each allocation is
 * mapped twice, at its address without any access, and elsewhere for the library's own copies. */
#ifndef PINWIRE_TESTS_DEVICES_MEMORY_H
#define PINWIRE_TESTS_DEVICES_MEMORY_H

#include <stddef.h>

struct device_memory {
  char *address; /* what programs see */
  char *alias;   /* the same bytes, for copies */
  int fd;        /* and once more */
  size_t bytes;
  int device;
  void *owner; /* a context, or NULL */
};

/* NULL: none is left. */
void *device_allocate(int device, void *owner, size_t bytes);
/* 0, or -1: there is no such allocation. */
int device_free(void *address);
/* NULL: the host's. */
const struct device_memory *device_find(const void *address);
/* Either end may be the host's. */
void device_copy(void *to, const void *from, size_t bytes);
/* A file descriptor of these whole pages, from the beginning of an allocation on; -1: they are none. */
int device_export(const void *address, size_t bytes);
/* The bytes that device_copy() has copied. */
extern _Atomic unsigned long device_bytes_copied;
/* How many devices there are: FAKE_DEVICES, else 2. */
int device_count(void);

#endif
