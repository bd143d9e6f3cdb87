#include "am/long/stripe.h"

#include <algorithm>

#include "am/message/done_count.h"
#include "am/send/outgoing.h"
#include "am/send/post.h"
#include "core/base/bits.h"
#include "core/base/check.h"

namespace pinwire {

Stripe stripe_of(Rank peer, const Route& route, uint64_t bytes, uint32_t rail) noexcept {
  dcheck(bytes != 0 && rail < engine.rail_count, "a stripe of no rail", bytes, rail);
  dcheck(peer < engine.rank_count, "stripes for a rank that the job has not", peer);
  dcheck(engine.rail_keys != nullptr, "stripes of a job with one rail", engine.rail_count);
  constexpr uint64_t kGrainBytes = 4096;
  const uint64_t share = align_up((bytes - 1) / engine.rail_count + 1, kGrainBytes);
  Stripe stripe;
  stripe.route = route;
  stripe.route.driver_index = static_cast<uint8_t>(engine.rail_first + rail);
  stripe.route.driver = engine.drivers[stripe.route.driver_index].driver;
  stripe.route.region_key = engine.rail_keys[uint64_t{peer} * engine.rail_count + rail];
  stripe.at = std::min(share * rail, bytes);
  stripe.bytes = std::min(share, bytes - stripe.at);
  dcheck(stripe.at + stripe.bytes <= bytes, "a stripe ends after the data", stripe.at, stripe.bytes,
         bytes);
  return stripe;
}

uint32_t post_striped(Work work, const Route& route, void* local, uint64_t remote,
                      uint64_t bytes) noexcept {
  dcheck(work.op == Op::kPut || work.op == Op::kGet, "stripes of a message", work.peer);
  dcheck(work.cookie != 0, "stripes whose end nobody counts", work.peer);
  uint32_t count = 0;
  uint64_t posted = 0;
  for (uint32_t rail = 0; rail < engine.rail_count; ++rail) {
    const Stripe stripe = stripe_of(work.peer, route, bytes, rail);
    std::byte* from = static_cast<std::byte*>(local) + stripe.at;
    const bool is_get = work.op == Op::kGet;
    const uint32_t driver = stripe.route.driver_index;
    work.remote_key = is_get ? engine.read_key(work.peer, stripe.route) : stripe.route.region_key;
    work.local_key = is_get ? engine.local_key(driver, from, stripe.bytes)
                            : engine.source_key(driver, from, stripe.bytes);
    dcheck(stripe.bytes == 0 || work.local_key != kNoRegion,
           "one rail knows memory that another does not", rail, stripe.bytes);
    const Caps& caps = engine.caps_of(stripe.route);
    const uint64_t piece_max = caps.put_bytes_max;
    dcheck(piece_max != 0, "a rail that carries nothing", rail);
    for (uint64_t at = 0; at < stripe.bytes; at += work.bytes, ++count) {
      work.local = from + at;
      work.remote = remote + stripe.at + at;
      work.bytes = std::min(stripe.bytes - at, piece_max);
      post_waiting(stripe.route, work);
      posted += work.bytes;
    }
  }
  dcheck(posted == bytes, "stripes that are not the whole", posted, bytes);
  return count;
}

void put_striped(Rank to, const Route& route, const void* source, uint64_t remote,
                 uint64_t bytes) noexcept {
  DoneCount done{0};
  Work work{};
  work.op = Op::kPut;
  work.cls = MessageClass::kRequest;
  work.peer = to;
  work.cookie = cookie_of(done);
  const uint32_t count = post_striped(work, route, unconst(source), remote, bytes);
  wait_for(nullptr, route, done, count);
}

}  // namespace pinwire
