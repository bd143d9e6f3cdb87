/* GASNet-1's start of a job: gasnet_init and gasnet_attach. */
#include "gasnet1.h"

enum { kHandlersMax = 128 };

static struct {
  void (*function)();
  gasnet_handler_t *index;
} handlers[kHandlersMax];
static int handler_count;

void add_handler(void (*function)(), gasnet_handler_t *index) {
  if (handler_count == kHandlersMax) abort();
  handlers[handler_count].function = function;
  handlers[handler_count++].index = index;
}

#ifdef GASNET_SEGMENT_EVERYTHING
/* Nobody has a segment of its own: memory that each node tells the others of takes its place. */
static gasnet_handlerentry_t own_table[kHandlersMax];
static _Atomic unsigned segments_known;
static void learn_segment(gasnet_token_t token, void *buf, size_t nbytes) {
  gasnet_node_t from = kNodesMax;
  gasnet_AMGetMsgSource(token, &from);
  if (from < kNodesMax && nbytes == sizeof segments[0]) memcpy(&segments[from], buf, nbytes);
  __atomic_fetch_add(&segments_known, 1, __ATOMIC_RELEASE);
}
static gasnet_handlerentry_t *with_own_handler(gasnet_handlerentry_t *table, int *entries) {
  if (*entries != 0) memcpy(own_table, table, (size_t)*entries * sizeof *table);
  own_table[*entries].index = 0;
  own_table[(*entries)++].fnptr = (void (*)())learn_segment;
  return own_table;
}
static void share_segments(gasnet_handler_t handler, uintptr_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, GASNET_PAGESIZE, bytes + 1) != 0) gasnet_exit(3);
  memset(memory, 0, bytes);
  const gasnet_seginfo_t mine = {memory, bytes};
  barrier();
  for (gasnet_node_t to = 0; to < nodes; ++to)
    gasnet_AMRequestMedium0(to, handler, (void *)&mine, sizeof mine);
  GASNET_BLOCKUNTIL(__atomic_load_n(&segments_known, __ATOMIC_ACQUIRE) == nodes);
  barrier();
}
#endif

void start_job(gasnet_handlerentry_t *table, int entries, uintptr_t segment_bytes) {
  gasnet_handlerentry_t *all = table;
  int all_entries = entries;
#ifdef GASNET_SEGMENT_EVERYTHING
  all = with_own_handler(table, &all_entries);
#endif
  if (gasnet_init(&program_argc, &program_argv) != GASNET_OK) exit(3);
  if (gasnet_attach(all, all_entries, segment_bytes, 0) != GASNET_OK) gasnet_exit(3);
  for (int i = 0; i < entries; ++i) table[i].index = all[i].index;
  me = gasnet_mynode();
  nodes = gasnet_nodes();
  if (nodes > kNodesMax) gasnet_exit(3);
  EXPECT_EQ(gasnet_getSegmentInfo(segments, kNodesMax), GASNET_OK);
#ifdef GASNET_SEGMENT_EVERYTHING
  share_segments(all[entries].index, segment_bytes);
#endif
}

void start_shared_job(void) {
  gasnet_handlerentry_t table[kHandlersMax];
  for (int i = 0; i < handler_count; ++i) {
    table[i].index = 0;
    table[i].fnptr = handlers[i].function;
  }
  start_job(table, handler_count, kSegmentBytes);
  for (int i = 0; i < handler_count; ++i) *handlers[i].index = table[i].index;
}
