/* How tiles of the matrix go to their places in its transpose: as strided puts, as Mediums and
 * Longs whose handlers put them there, and as the replies to those that ask for parts of rows. */
#ifndef PINWIRE_JOB_TRANSPOSE_TILES_H
#define PINWIRE_JOB_TRANSPOSE_TILES_H

#include <string.h>

#include "matrix.h"

/* One transfer of a thread: its memory is free again once no answer is owed and the event is over.
 */
typedef struct {
  int owed; /* answers; handlers count them down in whatever thread they run */
  gex_Event_t event;
  uint64_t *tile;
} slot_t;

typedef struct {
  slot_t slots[kSlots];
  int next;
  uint64_t random;
} mover_t;

static mover_t movers[kThreadsMax];
static int only_elements; /* nothing goes another way than put_elements() */

enum { kOnRows = GEX_AM_INDEX_BASE, kOnDone, kOnAsk, kOnColumn };

static void answered(int thread, int slot) {
  __atomic_fetch_sub(&movers[thread].slots[slot].owed, 1, __ATOMIC_RELEASE);
}
static void on_done(gex_Token_t token, gex_AM_Arg_t thread, gex_AM_Arg_t slot) {
  (void)token;
  answered(thread, slot);
}
/* The payload is rows of `width` elements of the transpose. */
static void on_rows(gex_Token_t token, void *payload, size_t bytes, gex_AM_Arg_t row,
                    gex_AM_Arg_t column, gex_AM_Arg_t width, gex_AM_Arg_t thread,
                    gex_AM_Arg_t slot) {
  const size_t row_bytes = (size_t)width * 8;
  for (size_t at = 0; at < bytes; at += row_bytes, ++row)
    memcpy(goal_at(me, (size_t)row, (size_t)column), (char *)payload + at, row_bytes);
  gex_AM_ReplyShort2(token, kOnDone, 0, thread, slot);
}
/* Part of a row is wanted: every other one goes as a Long. */
static void on_ask(gex_Token_t token, gex_AM_Arg_t row, gex_AM_Arg_t column, gex_AM_Arg_t count,
                   gex_AM_Arg_t thread, gex_AM_Arg_t slot) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  uint64_t *from = source_at((size_t)row, (size_t)column);
  const gex_AM_Arg_t global_row = (gex_AM_Arg_t)begin_of(me) + row;
  if (row % 2 == 0)
    gex_AM_ReplyMedium4(token, kOnColumn, from, (size_t)count * 8, GEX_EVENT_NOW, 0, global_row,
                        column, thread, slot);
  else
    gex_AM_ReplyLong4(token, kOnColumn, from, (size_t)count * 8,
                      landing(info.gex_srcrank, info.gex_srcrank, thread, slot), GEX_EVENT_NOW, 0,
                      global_row, column, thread, slot);
}
static void on_column(gex_Token_t token, void *payload, size_t bytes, gex_AM_Arg_t row,
                      gex_AM_Arg_t column, gex_AM_Arg_t thread, gex_AM_Arg_t slot) {
  (void)token;
  const uint64_t *from = (const uint64_t *)payload;
  uint64_t *to = goal_at(me, (size_t)column - begin_of(me), (size_t)row);
  for (size_t i = 0; i < bytes / 8; ++i) to[i * side] = from[i];
  answered(thread, slot);
}

static inline size_t draw(mover_t *mover, size_t below) {
  uint64_t *bits = &mover->random;
  *bits ^= *bits << 13, *bits ^= *bits >> 7, *bits ^= *bits << 17;
  return (size_t)(*bits >> 11) % below;
}
static inline size_t at_most(size_t most, size_t value) { return value < most ? value : most; }

/* Mostly few, now and then up to `most`. */
static inline size_t draw_extent(mover_t *mover, size_t most) {
  return 1 + draw(mover, draw(mover, 4) == 0 ? most : most / 16);
}

static void await_slot(slot_t *slot) {
  GASNET_BLOCKUNTIL(__atomic_load_n(&slot->owed, __ATOMIC_ACQUIRE) == 0);
  if (slot->event != GEX_EVENT_INVALID) gex_Event_Wait(slot->event);
  slot->event = GEX_EVENT_INVALID;
}
static int free_slot(mover_t *mover) {
  const int slot = mover->next++ % kSlots;
  await_slot(&mover->slots[slot]);
  return slot;
}
static void await_all(mover_t *mover) {
  for (int slot = 0; slot < kSlots; ++slot) await_slot(&mover->slots[slot]);
}

typedef struct {
  gex_Rank_t to;
  size_t row, column;   /* in the transpose, rows from the owner's first one */
  size_t height, width; /* there */
} tile_t;

static void put_strided(slot_t *slot, const tile_t *tile) {
  const size_t counts[] = {tile->height};
  const ptrdiff_t to[] = {(ptrdiff_t)(side * 8)}, from[] = {(ptrdiff_t)(tile->width * 8)};
  slot->event = gex_VIS_StridedPutNB(team, tile->to, goal_at(tile->to, tile->row, tile->column), to,
                                     slot->tile, from, tile->width * 8, counts, 1, 0);
}
/* Its source is the matrix itself, of which no two elements that follow each other there are
 * neighbours. */
static void put_elements(slot_t *slot, size_t row, size_t column, const tile_t *tile) {
  const size_t counts[] = {tile->width, tile->height};
  const ptrdiff_t to[] = {8, (ptrdiff_t)(side * 8)}, from[] = {(ptrdiff_t)(side * 8), 8};
  slot->event = gex_VIS_StridedPutNB(team, tile->to, goal_at(tile->to, tile->row, tile->column), to,
                                     source_at(row, column), from, 8, counts, 2, 0);
}
static void send_mediums(mover_t *mover, int thread, int number, const tile_t *tile) {
  slot_t *slot = &mover->slots[number];
  const size_t row_bytes = tile->width * 8;
  const size_t most = gex_AM_LUBRequestMedium() / row_bytes;
  for (size_t row = 0, rows; row < tile->height; row += rows) {
    rows = at_most(tile->height - row, 1 + draw(mover, at_most(most, tile->height)));
    __atomic_fetch_add(&slot->owed, 1, __ATOMIC_RELAXED);
    gex_AM_RequestMedium5(team, tile->to, kOnRows, slot->tile + row * tile->width, rows * row_bytes,
                          GEX_EVENT_NOW, 0, (gex_AM_Arg_t)(tile->row + row),
                          (gex_AM_Arg_t)tile->column, (gex_AM_Arg_t)tile->width, thread, number);
  }
}
static void send_long(slot_t *slot, int thread, int number, const tile_t *tile) {
  __atomic_fetch_add(&slot->owed, 1, __ATOMIC_RELAXED);
  gex_AM_RequestLong5(team, tile->to, kOnRows, slot->tile, tile->height * tile->width * 8,
                      landing(tile->to, me, thread, number), &slot->event, 0,
                      (gex_AM_Arg_t)tile->row, (gex_AM_Arg_t)tile->column,
                      (gex_AM_Arg_t)tile->width, thread, number);
}
/* `row` is that of the tile's first element in this rank's rows, `column` that in the matrix. */
static void send_tile(int thread, size_t row, size_t column, const tile_t *tile) {
  mover_t *mover = &movers[thread];
  const int number = free_slot(mover);
  slot_t *slot = &mover->slots[number];
  const size_t way = only_elements ? 0 : draw(mover, 4);
  if (way == 0) return put_elements(slot, row, column, tile);
  for (size_t i = 0; i < tile->height; ++i)
    for (size_t j = 0; j < tile->width; ++j)
      slot->tile[i * tile->width + j] = *source_at(row + j, column + i);
  if (way == 1) put_strided(slot, tile);
  if (way == 2) send_mediums(mover, thread, number, tile);
  if (way == 3) send_long(slot, thread, number, tile);
}

/* Sends rows [first, end) of this rank to `to`, in tiles of any size. */
static void send_band(int thread, gex_Rank_t to, size_t first, size_t end) {
  mover_t *mover = &movers[thread];
  const size_t last_column = begin_of(to + 1);
  for (size_t row = first, width; row < end; row += width) {
    width = at_most(end - row, draw_extent(mover, kBand));
    for (size_t column = begin_of(to), height; column < last_column; column += height) {
      height = at_most(last_column - column, draw_extent(mover, kWidthMax));
      const tile_t tile = {to, column - begin_of(to), begin_of(me) + row, height, width};
      send_tile(thread, row, column, &tile);
    }
  }
}
static void ask_for_row(int thread, gex_Rank_t from, size_t row) {
  mover_t *mover = &movers[thread];
  const size_t end = begin_of(me + 1);
  const size_t most =
      at_most(at_most(gex_AM_LUBReplyMedium(), gex_AM_LUBReplyLong()), kSlotBytes) / 8;
  for (size_t column = begin_of(me), count; column < end; column += count) {
    const int number = free_slot(mover);
    count = at_most(end - column, 1 + draw(mover, at_most(most, end - column)));
    __atomic_fetch_add(&mover->slots[number].owed, 1, __ATOMIC_RELAXED);
    gex_AM_RequestShort5(team, from, kOnAsk, 0, (gex_AM_Arg_t)row, (gex_AM_Arg_t)column,
                         (gex_AM_Arg_t)count, thread, number);
  }
}

#endif
