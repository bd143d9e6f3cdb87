/* Contiguous copies, in every form and between any two threads. */
#include "upc.h"

enum { kMost = 300000, kFrom = 4096, kTo = kFrom + kMost + 4096 };
enum { kBlocking, kAsync, kAsynci, kForms };
static const size_t sizes[] = {1, 7, 64, 4096, 70001, kMost};
static unsigned char here[kMost + 2], back[kMost + 2];

IS(bupc_memcpy_async((bupc_gptr_t){0, 0, NULL}, (bupc_gptr_t){0, 0, NULL}, 0), bupc_handle_t);
IS(bupc_memget_async(NULL, (bupc_gptr_t){0, 0, NULL}, 0), bupc_handle_t);
IS(bupc_memput_async((bupc_gptr_t){0, 0, NULL}, NULL, 0), bupc_handle_t);
IS(bupc_memset_async((bupc_gptr_t){0, 0, NULL}, 0, 0), bupc_handle_t);

static void put(int form, bupc_gptr_t to, const void *from, size_t n) {
  if (form == kBlocking) bupc_memput(to, from, n);
  if (form == kAsync) bupc_waitsync(bupc_memput_async(to, from, n));
  if (form == kAsynci) bupc_memput_asynci(to, from, n), bupc_waitsynci();
}
static void get(int form, void *to, bupc_gptr_t from, size_t n) {
  if (form == kBlocking) bupc_memget(to, from, n);
  if (form == kAsync) bupc_waitsync(bupc_memget_async(to, from, n));
  if (form == kAsynci) bupc_memget_asynci(to, from, n), bupc_waitsynci();
}
static void copy(int form, bupc_gptr_t to, bupc_gptr_t from, size_t n) {
  if (form == kBlocking) bupc_memcpy(to, from, n);
  if (form == kAsync) bupc_waitsync(bupc_memcpy_async(to, from, n));
  if (form == kAsynci) bupc_memcpy_asynci(to, from, n), bupc_waitsynci();
}
static void set(int form, bupc_gptr_t to, int c, size_t n) {
  if (form == kBlocking) bupc_memset(to, c, n);
  if (form == kAsync) bupc_waitsync(bupc_memset_async(to, c, n));
  if (form == kAsynci) bupc_memset_asynci(to, c, n), bupc_waitsynci();
}

/* n + 2 bytes of value 9 at a place, between whose first and last the bytes go. */
static void clear(bupc_gptr_t place, size_t n) {
  memset(back, 9, n + 2);
  write_there(place, back, n + 2);
}
/* Nothing but the bytes of that seed has come into the place. */
static int has_come(bupc_gptr_t place, size_t n, unsigned seed) {
  memset(back, 0, n + 2);
  read_there(back, place, n + 2);
  return back[0] == 9 && back[n + 1] == 9 && holds(back + 1, n, seed);
}

CASE(puts_and_gets, "UPC-007 UPC-008 UPC-010 UPC-016 UPC-039 UPC-040 UPC-041") {
  for (uint32_t peer = 0; peer < nodes; ++peer) {
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
      for (int form = 0; form < kForms; ++form) {
        const size_t n = sizes[i];
        const unsigned seed = me * 100 + i * 3 + (unsigned)form;
        clear(shared(peer, kTo), n);
        fill(here, n, seed);
        put(form, shared(peer, kTo + 1), here, n);
        EXPECT(has_come(shared(peer, kTo), n, seed));
        memset(here, 9, n + 2);
        get(form, here + 1, shared(peer, kTo + 1), n);
        EXPECT(here[0] == 9 && here[n + 1] == 9 && holds(here + 1, n, seed));
      }
    }
  }
}

CASE(fills, "UPC-007 UPC-008 UPC-010 UPC-016 UPC-040") {
  for (uint32_t peer = 0; peer < nodes; ++peer) {
    for (int form = 0; form < kForms; ++form) {
      clear(shared(peer, kTo), 5000);
      set(form, shared(peer, kTo + 1), 0x1a5, 5000);
      read_there(back, shared(peer, kTo), 5002);
      EXPECT(back[0] == 9 && back[5001] == 9 && all_bytes_are(back + 1, 5000, 0xa5));
    }
  }
}

/* Between every two threads, among them two that are not the caller, and one twice. */
CASE(copies_between_any_two_threads, "UPC-007 UPC-008 UPC-009 UPC-010 UPC-016 UPC-040 UPC-044") {
  for (uint32_t from = 0; from < nodes; ++from) {
    for (uint32_t to = 0; to < nodes; ++to) {
      for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        for (int form = 0; form < kForms; ++form) {
          const size_t n = sizes[i];
          const unsigned seed = me * 1000 + from * 100 + to * 10 + i + (unsigned)form;
          fill(here, n, seed);
          write_there(shared(from, kFrom), here, n);
          clear(shared(to, kTo), n);
          copy(form, shared(to, kTo + 1), shared(from, kFrom), n);
          EXPECT(has_come(shared(to, kTo), n, seed));
        }
      }
    }
  }
}

CASE(nothing_to_copy, "UPC-008") {
  const bupc_gptr_t nowhere = {0, 0, NULL};
  EXPECT(bupc_memput_async(nowhere, NULL, 0) == BUPC_COMPLETE_HANDLE);
  EXPECT(bupc_memget_async(NULL, nowhere, 0) == BUPC_COMPLETE_HANDLE);
  EXPECT(bupc_memcpy_async(nowhere, nowhere, 0) == BUPC_COMPLETE_HANDLE);
  EXPECT(bupc_memset_async(nowhere, 1, 0) == BUPC_COMPLETE_HANDLE);
  for (int form = 0; form < kForms; ++form) {
    put(form, nowhere, NULL, 0);
    get(form, NULL, nowhere, 0);
    copy(form, nowhere, nowhere, 0);
    set(form, nowhere, 1, 0);
  }
}

/* More third-party copies than the source has slots for, from all ranks at once. */
CASE(many_copies_between_others, "UPC-006 UPC-009 UPC-044") {
  enum { kCopies = 200, kEach = 512 };
  static bupc_handle_t handles[kCopies];
  const uint32_t from = (me + 1) % nodes, to = (me + 2) % nodes;
  fill(here, kCopies * kEach, 70 + me);
  write_there(shared(from, kFrom), here, kCopies * kEach);
  for (size_t i = 0; i < kCopies; ++i) {
    handles[i] = bupc_memcpy_async(shared(to, kTo + i * kEach),
                                   shared(from, kFrom + (kCopies - 1 - i) * kEach), kEach);
  }
  bupc_waitsync_all(handles, kCopies);
  read_there(back, shared(to, kTo), kCopies * kEach);
  for (size_t i = 0; i < kCopies; ++i)
    EXPECT(memcmp(back + i * kEach, here + (kCopies - 1 - i) * kEach, kEach) == 0);
}
