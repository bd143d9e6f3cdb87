#include "bench/flood/loops/traffic.h"

#include <algorithm>

#include "bench/flood/host/stop.h"
#include "bench/flood/loops/messages.h"

namespace pinwire::flood {
namespace {

/// One AM request with the payload of the path.
void send(const Path& p, Category category, Handler short_handler, Handler payload_handler) {
  ++issued.requests;
  ++issued.tx_messages;
  issued.tx_bytes += p.bytes;
  switch (category) {
    case Category::kShort:
      gasnet_AMRequestShort0(p.partner, short_handler);
      break;
    case Category::kMedium:
      gasnet_AMRequestMedium0(p.partner, payload_handler, p.source, p.bytes);
      break;
    case Category::kLong:
      gasnet_AMRequestLong0(p.partner, payload_handler, p.source, p.bytes, p.remote_sink);
      break;
  }
}

}  // namespace

Category category_of(uint64_t bytes) {
  if (bytes == 0) return Category::kShort;
  return bytes <= gasnet_AMMaxMedium() ? Category::kMedium : Category::kLong;
}

void Traffic::start(const TrafficSettings& settings, bool sends, bool tx_first) {
  settings_ = settings;
  path_.bytes = settings.bytes;
  category_ = category_of(settings.bytes);
  sends_ = sends;
  running_ = true;
  slot_ = 0;
  pongs_expected_ = mail.pongs.get();
  std::fill_n(path_.handles, settings_.depth, GASNET_INVALID_HANDLE);
  round_trips_.clear();
  for (uint32_t i = 0; tx_first && i < settings_.burst; ++i) one_way();
}

void Traffic::step() {
  if (!running_ || !sends_) return;
  constexpr uint64_t kStep_ns = 1'000'000;
  constexpr uint32_t kLookEvery = 16;
  const uint64_t begin = cycles();
  const bool big = settings_.bytes > 4096;
  for (uint32_t i = 0; i < settings_.burst; ++i) {
    operation();
    const bool look = big || i % kLookEvery == kLookEvery - 1;
    if (look && clock_.ns(cycles() - begin) > kStep_ns) return;
  }
}

void Traffic::operation() {
  switch (settings_.mode) {
    case TrafficMode::kFlood:
    case TrafficMode::kRxonly:
    case TrafficMode::kTxonly:
      return one_way();
    case TrafficMode::kAm:
      return asked();
    case TrafficMode::kPingpong:
      return round_trip();
    case TrafficMode::kPut:
    case TrafficMode::kGet:
      return transfer();
  }
}

void Traffic::one_way() { send(path_, category_, kOneWayShort, kOneWayPayload); }

void Traffic::asked() {
  GASNET_BLOCKUNTIL(pongs_expected_ - mail.pongs.get() < settings_.depth);
  ++pongs_expected_;
  send(path_, category_, kAskedShort, kAskedPayload);
}

void Traffic::round_trip() {
  const uint64_t begin = cycles();
  ++pongs_expected_;
  send(path_, category_, kAskedShort, kAskedPayload);
  GASNET_BLOCKUNTIL(mail.pongs.get() == pongs_expected_);
  round_trips_.record(clock_.ns(cycles() - begin));
}

void Traffic::transfer() {
  gasnet_handle_t& handle = path_.handles[slot_];
  slot_ = slot_ + 1 == settings_.depth ? 0 : slot_ + 1;
  gasnet_wait_syncnb(handle);
  if (settings_.mode == TrafficMode::kPut) {
    handle = gasnet_put_nb_bulk(path_.partner, path_.remote_sink, path_.source, path_.bytes);
    ++issued.tx_messages;
    issued.tx_bytes += path_.bytes;
  } else {
    handle = gasnet_get_nb_bulk(path_.sink, path_.partner, path_.remote_source, path_.bytes);
    ++issued.rx_messages;
    issued.rx_bytes += path_.bytes;
  }
}

void Traffic::halt() {
  if (!running_) return;
  running_ = false;
  gasnet_wait_syncnb_all(path_.handles, settings_.depth);
  GASNET_BLOCKUNTIL(mail.pongs.get() >= pongs_expected_);
  while (ask_count(path_.partner) != issued.requests) {
  }
}

}  // namespace pinwire::flood
