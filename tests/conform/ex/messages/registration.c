/* gex_EP_RegisterHandlers (GASNet-EX 0.19, "Active messages"). */
#include "../ex.h"

enum { kFirst = GEX_AM_INDEX_BASE, kLast = 255 };

static _Atomic int calls[256];
static void on_nothing(gex_Token_t token) { (void)token; }
static void on_any(gex_Token_t token) {
  gex_Token_Info_t info;
  if (gex_Token_Info(token, &info, GEX_TI_ENTRY) & GEX_TI_ENTRY) ++calls[info.gex_entry->gex_index];
}
/* One function for each index that is asked for. */
static void on_a(gex_Token_t token) { (void)token, ++calls[0]; }
static void on_b(gex_Token_t token) { (void)token, ++calls[1]; }

static gex_AM_Entry_t entry_of(int index, gex_AM_Fn_t function) {
  const gex_AM_Entry_t entry = {.gex_index = (gex_AM_Index_t)index,
                                .gex_fnptr = function,
                                .gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
                                .gex_nargs = 0,
                                .gex_cdata = &calls[2],
                                .gex_name = "CONFORM"};
  return entry;
}

CASE(declarations, "GX-085") {
  int (*const add)(gex_EP_t, gex_AM_Entry_t *, size_t) = gex_EP_RegisterHandlers;
  gex_AM_Entry_t entry = entry_of(0, (gex_AM_Fn_t)on_nothing);
  gex_AM_Index_t *const index = &entry.gex_index;
  gex_AM_Fn_t *const function = &entry.gex_fnptr;
  gex_Flags_t *const flags = &entry.gex_flags;
  unsigned int *const nargs = &entry.gex_nargs;
  const void **const data = &entry.gex_cdata;
  const char **const name = &entry.gex_name;
  EXPECT(add != NULL && index != NULL && *function == (gex_AM_Fn_t)on_nothing);
  EXPECT(*flags != 0 && *nargs == 0 && *data != NULL && *name != NULL);
  EXPECT_EQ(add(endpoint, &entry, 0), GASNET_OK); /* no entry at all */
  EXPECT_EQ(*index, 0);
}

static void fill_free_index(gex_AM_Index_t expected) {
  gex_AM_Entry_t entry = entry_of(0, (gex_AM_Fn_t)on_any);
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &entry, 1), GASNET_OK);
  EXPECT_EQ(entry.gex_index, expected);
}

/* Fixed ones first, wherever they stand; then the others by their place, from 255 down. */
JOB(free_indices_are_given_from_the_top, "GX-087 GX-088 GX-090", kLocal, 0, "") {
  static const int wanted[] = {0, 254, 0, 250, 0, 0}, given[] = {255, 254, 253, 250, 252, 251};
  gex_AM_Entry_t table[6], before[6];
  start_ex_job(0, 0);
  for (int i = 0; i < 6; ++i) {
    table[i] = entry_of(wanted[i], (gex_AM_Fn_t)on_any);
    table[i].gex_nargs = (unsigned)i;
    table[i].gex_cdata = &given[i];
    before[i] = table[i];
  }
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, table, 6), GASNET_OK);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(table[i].gex_index, given[i]);
    EXPECT(table[i].gex_fnptr == before[i].gex_fnptr && table[i].gex_name == before[i].gex_name);
    EXPECT(table[i].gex_flags == before[i].gex_flags && table[i].gex_nargs == (unsigned)i);
    EXPECT(table[i].gex_cdata == &given[i]);
  }
  gex_AM_Entry_t fixed = entry_of(249, (gex_AM_Fn_t)on_any);
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &fixed, 1), GASNET_OK);
  fill_free_index(248); /* the highest that is free by now */
}

/* All indices of an endpoint, in several calls; each reaches its handler. */
JOB(whole_range_of_indices, "GX-080 GX-087 GX-088 GX-090", kLocal, 0, "") {
  start_ex_job(0, 0);
  gex_AM_Entry_t ends[2] = {entry_of(kFirst, (gex_AM_Fn_t)on_any),
                            entry_of(kLast, (gex_AM_Fn_t)on_any)};
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, ends, 2), GASNET_OK);
  for (int index = kLast - 1; index > kFirst; --index) fill_free_index((gex_AM_Index_t)index);
  barrier();
  for (int index = kFirst; index <= kLast; ++index)
    gex_AM_RequestShort0(team, (me + 1) % nodes, (gex_AM_Index_t)index, 0);
  for (int index = kFirst; index <= kLast; ++index) AWAIT(calls[index], 1);
  barrier();
  for (int index = kFirst; index <= kLast; ++index) EXPECT_EQ(calls[index], 1);
}

/* The table is the client's again: what it does with it is nothing to the handlers. */
JOB(table_may_go, "GX-088", kNetwork, 0, "") {
  gex_AM_Entry_t *table = malloc(2 * sizeof *table);
  start_ex_job(0, 0);
  table[0] = entry_of(200, (gex_AM_Fn_t)on_a);
  table[1] = entry_of(0, (gex_AM_Fn_t)on_b);
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, table, 2), GASNET_OK);
  const gex_AM_Index_t second = table[1].gex_index;
  memset(table, 0xff, 2 * sizeof *table);
  free(table);
  barrier();
  gex_AM_RequestShort0(team, (me + 1) % nodes, 200, 0);
  gex_AM_RequestShort0(team, (me + 1) % nodes, second, 0);
  AWAIT(calls[0], 1);
  AWAIT(calls[1], 1);
}

/* Rank 0 registers while the others make no call at all. */
JOB(registration_is_of_one_rank, "GX-087 GX-090", kNetwork, 0, "") {
  start_ex_job(0, 0);
  if (freeze_rank_1()) {
    for (int i = 0; i < 3; ++i) {
      gex_AM_Entry_t entry = entry_of(200 + i, (gex_AM_Fn_t)on_a);
      EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &entry, 1), GASNET_OK);
    }
    thaw_rank_1();
  }
  barrier();
  if (me != 0) gex_AM_RequestShort0(team, 0, 202, 0);
  if (me == 0) AWAIT(calls[0], (int)nodes - 1);
}

/* Beside what gasnet_attach registered. */
JOB(registration_after_attach, "GX-087 GX-090", kNetwork, 0, "") {
  gasnet_handlerentry_t old = {201, (void (*)())on_a};
  gex_AM_Entry_t entries[2] = {entry_of(200, (gex_AM_Fn_t)on_b), entry_of(0, (gex_AM_Fn_t)on_any)};
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  EXPECT_EQ(gasnet_attach(&old, 1, 65536, 0), GASNET_OK);
  gasnet_QueryGexObjects(&client, &endpoint, &team, &segment);
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, entries, 2), GASNET_OK);
  EXPECT_EQ(entries[1].gex_index, 255);
  barrier();
  for (gex_Rank_t rank = 0; rank < gasnet_nodes(); ++rank) {
    gex_AM_RequestShort0(team, rank, 200, 0);
    gasnet_AMRequestShort0(rank, 201);
    gasnet_AMRequestShort0(rank, 200);
  }
  AWAIT(calls[1], 2 * (int)gasnet_nodes());
  AWAIT(calls[0], (int)gasnet_nodes());
}
