/* gex_Segment_Create (the additions, 4.2) and gex_Segment_Destroy, of segments that no endpoint is
 * bound to. */
#include <sys/mman.h>
#include <unistd.h>

#include "../ex.h"

static gex_Segment_t create(void *address, uintptr_t length) {
  gex_Segment_t made = GEX_SEGMENT_INVALID;
  EXPECT_EQ(gex_Segment_Create(&made, client, address, length, GEX_MK_HOST, 0), GASNET_OK);
  EXPECT(made != GEX_SEGMENT_INVALID);
  return made;
}

static void expect_no_segment(void *address, uintptr_t length, gex_MK_t kind) {
  static char word;
  const gex_Segment_t before = (gex_Segment_t)(void *)&word;
  gex_Segment_t made = before;
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_Segment_Create(&made, client, address, length, kind, 0), GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
  EXPECT(made == before);
}

/* ---- memory of the library's ----------------------------------------------------------------- */

static void use_all_of(gex_Segment_t made, uintptr_t asked) {
  unsigned char *memory = gex_Segment_QueryAddr(made);
  EXPECT(memory != NULL && gex_Segment_QuerySize(made) >= asked);
  fill(memory, gex_Segment_QuerySize(made), (unsigned)asked);
  EXPECT(holds(memory, gex_Segment_QuerySize(made), (unsigned)asked));
}

/* Whole pages by the proposal, any length but 0 by the specification: what is there is told. */
CASE(the_library_allocates, "EX-054 EX-055 EX-056") {
  const uintptr_t lengths[] = {GASNET_PAGESIZE, 5 * GASNET_PAGESIZE, 1, GASNET_PAGESIZE - 1,
                               GASNET_PAGESIZE + 1};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
    gex_Segment_t made = create(NULL, lengths[i]);
    if (made == GEX_SEGMENT_INVALID) return;
    EXPECT(gex_Segment_QueryClient(made) == client);
    use_all_of(made, lengths[i]);
    gex_Segment_Destroy(made, 0);
  }
}

/* The most that is promised can be had, after gex_Segment_Attach too (EX-064), and no more. */
JOB(as_long_as_promised, "EX-056 EX-060 EX-064", kLocal, 0, "") {
  setenv("GASNET_MAX_SEGSIZE", "2097152", 1);
  start_ex_job(0, GASNET_PAGESIZE);
  const uintptr_t most = gasnet_getMaxLocalSegmentSize();
  EXPECT(most != 0 && most <= 2097152 && most % GASNET_PAGESIZE == 0);
  use_all_of(create(NULL, most), most);
  expect_no_segment(NULL, most + GASNET_PAGESIZE, GEX_MK_HOST);
  expect_no_segment(NULL, most + 1, GEX_MK_HOST);
}

/* None shares memory or a handle with another. */
CASE(many_at_once, "EX-054 EX-055 EX-083") {
  enum { kMany = 40 };
  gex_Segment_t made[kMany];
  for (int i = 0; i < kMany; ++i) {
    made[i] = create(NULL, GASNET_PAGESIZE);
    if (made[i] == GEX_SEGMENT_INVALID) return;
    EXPECT(made[i] != segment);
    for (int j = 0; j < i; ++j) EXPECT(made[i] != made[j]);
    fill(gex_Segment_QueryAddr(made[i]), GASNET_PAGESIZE, (unsigned)i);
  }
  for (int i = 0; i < kMany; ++i)
    EXPECT(holds(gex_Segment_QueryAddr(made[i]), GASNET_PAGESIZE, (unsigned)i));
  for (int i = 0; i < kMany; i += 2) gex_Segment_Destroy(made[i], 0);
  for (int i = 1; i < kMany; i += 2) { /* which are as they were */
    EXPECT(holds(gex_Segment_QueryAddr(made[i]), GASNET_PAGESIZE, (unsigned)i));
    gex_Segment_Destroy(made[i], 0);
  }
}

CASE(creation_is_local, "EX-054") {
  static unsigned char memory[100];
  if (nodes < 2) NOT_HERE("one rank is alone anyhow");
  if (!freeze_rank_1()) return;
  gex_Segment_Destroy(create(NULL, GASNET_PAGESIZE), 0);
  gex_Segment_Destroy(create(memory, sizeof memory), 0);
  thaw_rank_1();
}

/* Pages of this process, in KiB; address space as well as memory. */
static unsigned long size_of_process(void) {
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%lu", &pages) != 1) abort();
  fclose(file);
  return pages * ((unsigned long)sysconf(_SC_PAGESIZE) / 1024);
}

/* As much as many of them together would be: it is the memory of one that comes again and again. */
CASE(memory_is_given_back, "EX-083") {
  enum { kTimes = 100, kEach = 4 << 20 };
  gex_Segment_Destroy(create(NULL, kEach), 0);
  const unsigned long before = size_of_process();
  for (int i = 0; i < kTimes; ++i) {
    gex_Segment_t made = create(NULL, kEach);
    if (made == GEX_SEGMENT_INVALID) return;
    memset(gex_Segment_QueryAddr(made), i, 100);
    gex_Segment_Destroy(made, 0);
  }
  EXPECT(size_of_process() < before + kTimes / 2 * (unsigned long)(kEach / 1024));
}

/* ---- memory of the client's ------------------------------------------------------------------ */

static unsigned char clients[5 * 4096];

/* From any byte to any other, none of which is touched. */
CASE(the_client_allocates, "EX-054 EX-057 EX-058") {
  const size_t starts[] = {0, 1, 7, 4095, 4096}, lengths[] = {1, 3, 4095, 4096, 8193};
  fill(clients, sizeof clients, 5);
  for (size_t i = 0; i < sizeof starts / sizeof starts[0]; ++i) {
    gex_Segment_t made = create(clients + starts[i], lengths[i]);
    if (made == GEX_SEGMENT_INVALID) return;
    EXPECT(gex_Segment_QueryAddr(made) == clients + starts[i]);
    EXPECT_EQ(gex_Segment_QuerySize(made), lengths[i]);
    EXPECT(gex_Segment_QueryClient(made) == client);
    EXPECT(holds(clients, sizeof clients, 5));
    gex_Segment_Destroy(made, 0);
    EXPECT(holds(clients, sizeof clients, 5));
  }
}

/* Mapped before, unmapped afterwards: it is the client's all the while. */
CASE(memory_is_the_clients_again, "EX-057 EX-083") {
  enum { kBytes = 3 * 4096 };
  unsigned char *memory =
      mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(memory != MAP_FAILED);
  if (memory == MAP_FAILED) return;
  fill(memory, kBytes, 8);
  for (int i = 0; i < 3; ++i) gex_Segment_Destroy(create(memory + 11, kBytes - 20), 0);
  EXPECT(holds(memory, kBytes, 8));
  EXPECT_EQ(munmap(memory, kBytes), 0);
}

/* ---- errors ---------------------------------------------------------------------------------- */

CASE(what_is_no_segment, "EX-056 EX-058 EX-060") {
  const uintptr_t most = gasnet_getMaxLocalSegmentSize();
  expect_no_segment(NULL, 0, GEX_MK_HOST);
  expect_no_segment(clients, 0, GEX_MK_HOST);
  expect_no_segment(clients, sizeof clients, GEX_MK_INVALID);
  expect_no_segment(NULL, GASNET_PAGESIZE, GEX_MK_INVALID);
  if (most <= (uintptr_t)-1 - GASNET_PAGESIZE)
    expect_no_segment(NULL, most / GASNET_PAGESIZE * GASNET_PAGESIZE + GASNET_PAGESIZE,
                      GEX_MK_HOST);
}

/* No memory goes on beyond the last address. */
CASE(a_range_beyond_the_last_address, "EX-060") {
  expect_no_segment(clients, (uintptr_t)-1, GEX_MK_HOST);
}
