// The shared-memory driver: ranks of one host. A message is written straight into a ring of the
// receiver's inbox and handled there; puts and gets are one memcpy into the mapped segment, or,
// where all memory of the peer is exposed, one copy by the kernel.
//
// Why this cannot deadlock, with the smallest rings and any load (C1-154).
// tests/models/worlds/shm_lane_test.cc explores all points, and finds what each of them prevents:
//  1. A lane has a ring for requests and one for replies. Replies therefore never wait for a
//     request to be handled, neither for its place in a ring nor behind it.
//  2. Reply handlers send nothing and wait for nothing, and a handler that waits for room polls the
//     replies of its lane (poll_in_handler()). A batch of recv() has one class, so these are freed
//     while requests of an outer batch are not. Hence the ring of replies drains as long as
//     somebody polls its lane.
//  3. One-sided work needs nothing of the target: this CPU or the kernel moves the bytes inside
//     post(). Its Done waits in a list of the own lane, which the own polls empty; replies are
//     silent, and need no place in that list.
//  4. Nobody waits for a buffer of the outbox: where none is left the payload is copied.
//  5. A message takes at most half of a ring's room, so with what it leaves free before it, it fits
//     an empty ring; and a consumer that has run dry says so, however little it has freed. Hence
//     whoever waits for room gets it when the ring drains.
//  6. A rank that computes drains nothing. A handler whose reply finds no room leaves it with the
//     lane and returns (am/poll/owed.h), so such a rank stops nobody but those who wait for it.
//     The same opens the circle of two threads that wait in handlers of different lanes, each of
//     which polls its own lane alone while the other's ring of replies is full: one lane has no
//     such circle. The debt of a lane is bounded: beyond 32 MiB for a peer its handlers wait. The
//     1,024 requests that fit a ring by default are answered in 16 MiB of the largest Mediums. With
//     more slots (GASNET_SHM_RING_SLOTS) they may exceed the bound on both sides, and such a circle
//     then lasts until another thread of one of the two ranks polls.
//  7. A handler that waits sends what its lane owes, too, and no reply overtakes one that is owed
//     to its peer: a handler behind those waits for what it can bring about itself.
// Between reserve() and publish() a sender only copies, so the gap that it leaves in a ring closes
// when it runs again. A process that is stopped just there holds up the others that send to that
// ring, until it goes on.
#pragma once

#include <memory>

#include "driver/driver.h"
#include "driver/shm/inbox.h"

namespace pinwire {

class ShmDriver : public Driver {
 public:
  /// Makes [base, base + bytes) of `peer` reachable at `mapped` for puts, gets and atomics.
  virtual void map_peer_region(Rank peer, uint64_t base, uint64_t bytes, std::byte* mapped) = 0;
  /// The same for further regions, in place of an earlier one of this index. Work names it by the
  /// key that this returns; by kCmaKey, what reach_peer_process() made reachable. One thread at a
  /// time, also while others use the lanes, but not this region.
  virtual uint32_t map_bound_region(Rank peer, uint32_t index, uint64_t base, uint64_t bytes,
                                    std::byte* mapped) = 0;
  static constexpr uint32_t kBoundRegionsMax = 64;
  static constexpr uint32_t kCmaKey = ~0u;
  /// Makes all memory of `peer`, which exposes it, reachable for puts and gets by the kernel. A
  /// sentence if that does not let this process.
  virtual Status reach_peer_process(Rank peer) = 0;
  /// Lets peers do so, without expose(). Once is enough.
  virtual void allow_peer_processes() noexcept = 0;
};

/// `ring_slots` bounds each ring, whatever the network depth asks for (GASNET_SHM_RING_SLOTS).
std::unique_ptr<ShmDriver> make_shm_driver(uint32_t ring_slots);

}  // namespace pinwire
