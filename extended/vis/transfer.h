// Transfers of many pieces as puts and gets of those that are contiguous on both sides, all of them
// counted on one Op. Pieces that are mapped here are copied at once; small puts are packed where
// that pays.
#pragma once

#include "core/api_types.h"
#include "core/engine/target.h"
#include "extended/rma/transfer.h"
#include "extended/vis/packed_puts.h"
#include "extended/vis/pieces.h"

namespace pinwire::vis {

/// One piece of a get. Client context; as start_get().
void get_piece(Target from, std::byte* dest, std::byte* source, size_t bytes,
               pinwire_op& op) noexcept;

/// The job ends with a sentence if the two sides are not of the same size (VIS-008).
void check_sizes(const char* call, size_t bytes_left) noexcept;

template <typename Local, typename Remote>
void start_put_of(const char* call, Target to, Local local, Remote remote,
                  pinwire_op& op) noexcept {
  PackedPuts puts(to, op);
  check_sizes(call, for_each_pair(local, remote, [&](std::byte* here, std::byte* there, size_t n) {
                puts.put(here, there, n);
              }));
  puts.finish();
}
template <typename Local, typename Remote>
void start_get_of(const char* call, Target from, Local local, Remote remote,
                  pinwire_op& op) noexcept {
  check_sizes(call, for_each_pair(local, remote, [&](std::byte* here, std::byte* there, size_t n) {
                get_piece(from, here, there, n, op);
              }));
}

}  // namespace pinwire::vis
