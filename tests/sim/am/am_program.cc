// The program of the ranks of an AmWorld: requests of every category with 0 to 16 arguments, and
// handlers that answer with replies of every category.
#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "am/handlers/handlers.h"
#include "am/long/send_long.h"
#include "am/message/call.h"
#include "am/poll/poll.h"
#include "am/send/limits.h"
#include "am/send/send.h"
#include "am/wait/sleep.h"
#include "tests/sim/am/am_node.h"
#include "tests/sim/client/pattern.h"

namespace pinwire::sim {
namespace {

constexpr uint64_t kNamelessContent = 0x4a3e1e55;  ///< of every payload that no argument names
constexpr std::byte kScribble{0xee};
constexpr uint32_t kBurstTargets = 2;  ///< `debtors` has at least two ranks that poll
constexpr double kToAnybody = 0.03;

uint8_t handler_of(const ActiveMessage& message) {
  const auto category = static_cast<uint32_t>(message.category);
  return static_cast<uint8_t>(kClientHandlersFirst + category * (kAmArgsMax + 1) + message.argc);
}

void* address_of(uint64_t address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

}  // namespace

void AmWorld::open() {
  std::vector<std::vector<std::byte>> addresses;
  const uint64_t job_key = random_.next() | 1;
  for (Rank rank = 0; rank < scenario_.ranks; ++rank) {
    auto& node = *nodes_.emplace_back(std::make_unique<Node>(scenario_.seed * 4096 + rank));
    if (rank >= scenario_.ranks - scenario_.absent_ranks) node.absences_left = scenario_.absences;
    node.memory = std::make_unique<Memory>(rank, scenario_, 0, shadow_.image(rank));
    node.nic = maker_(*this, rank);
    const OpenInfo info{.rank = rank,
                        .rank_count = scenario_.ranks,
                        .job_key = job_key,
                        .network_depth = scenario_.network_depth};
    const Status opened = node.nic->open(info);
    if (!opened.ok()) return verdict_.fail("open: %s", opened.sentence().c_str());
    addresses.push_back(node.nic->address());
    node.memory->region = *node.nic->pin(node.memory->base(), node.memory->bytes(), -1, 0);
    node.driver = std::make_unique<PausingDriver>(*this, rank, *node.nic);
  }
  for (Rank rank = 0; rank < scenario_.ranks; ++rank) {
    Node& node = *nodes_[rank];
    Engine& mine = *new (node.engine) Engine;
    mine.rank = rank;
    mine.rank_count = scenario_.ranks;
    mine.driver_count = 1;
    mine.drivers[0].driver = node.driver.get();
    mine.drivers[0].caps = node.nic->caps();
    mine.drivers[0].own_key = node.memory->region.local_key;
    mine.drivers[0].own_read_key = node.memory->region.key_of_source();
    mine.own_base = node.memory->region.base;
    mine.own_bytes = node.memory->region.bytes;
    for (Rank peer = 0; peer < scenario_.ranks; ++peer) {
      const Status connected = node.nic->connect(peer, addresses[peer]);
      if (!connected.ok()) return verdict_.fail("connect: %s", connected.sentence().c_str());
      const Region& region = nodes_[peer]->memory->region;
      // Some pairs of ranks carry their Longs by messages, in one direction or both.
      const bool is_by_message = (scenario_.seed + 3 * rank + 5 * peer) % 4 == 0;
      node.routes.push_back({.driver = peer == rank ? nullptr : node.driver.get(),
                             .reach = is_by_message ? Reach::kMessages : Reach::kWhole,
                             .region_key = region.remote_key,
                             .segment_base = region.base,
                             .segment_bytes = region.bytes});
    }
    mine.routes = node.routes.data();
    node.fiber = std::make_unique<Fiber>([this, rank] { program(rank); });
    poll_at(rank, schedule_.now() + random_.below(scenario_.poll_ns + 1));
  }
}

void AmWorld::program(Rank rank) {
  Node& node = *nodes_[rank];
  for (uint32_t i = 0; i < scenario_.operations && !verdict_.failed(); ++i) {
    send_one(rank);
    if (computes_next(node, i + 1)) compute(rank);
    if (is_attentive(rank) && scenario_.rest_ns_max != 0) rest(node);
    if (node.random.chance(0.3)) poll();
  }
  node.sent_all = true;
  while (!over_) poll();
}

bool AmWorld::computes_next(const Node& node, uint32_t sent) const {
  return scenario_.burst != 0 && node.absences_left > 0 && sent % scenario_.burst == 0;
}

/// Polls for a while.
void AmWorld::rest(Node& node) {
  const uint64_t until_ns = schedule_.now() + node.random.below(scenario_.rest_ns_max);
  while (schedule_.now() < until_ns && !verdict_.failed()) poll();
}

/// Where ranks send bursts, these go to ranks that poll, and so does most of what those send.
Rank AmWorld::draw_peer(Rank rank) {
  Node& node = *nodes_[rank];
  const bool to_anybody = scenario_.burst == 0 || node.random.chance(kToAnybody);
  const uint32_t first_ones = to_anybody ? scenario_.ranks : kBurstTargets;
  return static_cast<Rank>(node.random.below(first_ones));
}

uint64_t AmWorld::draw_bytes(uint64_t bytes_max) {
  uint64_t bytes = random_.below(bytes_max + 1);
  if (!random_.chance(scenario_.long_payloads)) bytes = random_.below(200);
  return std::min(bytes, bytes_max);
}

bool AmWorld::reserve(Rank writer, Rank target, uint64_t bytes, PutRange& range, uint64_t content) {
  const uint64_t window = scenario_.window_bytes * writer;
  for (int tries = 0; tries < 4; ++tries) {
    const uint64_t offset = window + random_.below(scenario_.window_bytes - bytes + 1);
    if (shadow_.busy(target, offset, bytes)) continue;
    range = {offset, bytes, content};
    return true;
  }
  return false;
}

void AmWorld::send_one(Rank rank) {
  Node& node = *nodes_[rank];
  const uint64_t medium_max =
      std::min<uint64_t>(am_limits(true).medium_bytes_max, scenario_.message_bytes_max);
  const uint64_t long_max = std::min<uint64_t>(scenario_.window_bytes, 64 * 1024);
  const auto draw_size = [&](Category category) {
    if (category == Category::kShort) return uint64_t{0};
    return category == Category::kMedium ? draw_bytes(medium_max) : 1 + draw_bytes(long_max - 1);
  };
  ActiveMessage message{.from = rank,
                        .to = draw_peer(rank),
                        .is_request = true,
                        .category = static_cast<Category>(node.random.below(3))};
  message.argc = static_cast<uint32_t>(node.random.below(kAmArgsMax + 1));
  if (message.category == Category::kLong) message.argc = std::max(message.argc, 1u);
  message.content = message.argc == 0 ? kNamelessContent : node.random.next();
  message.bytes = draw_size(message.category);
  const bool may_ask = scenario_.absent_are_owed || is_attentive(rank);
  message.wants_reply = may_ask && message.argc > 0 && node.random.chance(0.7);
  if (message.category == Category::kLong &&
      !reserve(rank, message.to, message.bytes, message.range, message.content)) {
    return;
  }
  if (message.wants_reply) {
    message.reply_category = static_cast<Category>(node.random.below(3));
    message.reply_argc = static_cast<uint32_t>(node.random.below(kAmArgsMax + 1));
    if (message.reply_category == Category::kLong) message.reply_argc |= 1;
    message.reply_argc = std::min(message.reply_argc, kAmArgsMax);
    message.reply_bytes = draw_size(message.reply_category);
  }
  if (message.category == Category::kLong) {
    message.put_id = shadow_.begin_put(message.to, message.range);
  }
  send_request(node, ledger_.enter(message));
}

/// A slot of the segment that no LongAsync still needs, if there is one.
std::byte* AmWorld::free_slot(Node& node) const {
  for (uint32_t index = 0; index < scenario_.in_flight_max; ++index) {
    std::byte* const slot = node.memory->slot(index);
    const auto is_lent = [&](const Node::Lent& lent) { return lent.source.data() == slot; };
    if (std::none_of(node.lent.begin(), node.lent.end(), is_lent)) return slot;
  }
  return nullptr;
}

void AmWorld::send_request(Node& node, uint32_t number) {
  const ActiveMessage message = ledger_[number];
  std::array<int32_t, kAmArgsMax> args{};
  ledger_.write_args(number, {args.data(), message.argc});
  const AmCall call{handler_of(message), message.argc, args.data()};
  verdict_.trace("rank %u: request %u to %u, category %u, %lu bytes", message.from, number,
                 message.to, static_cast<unsigned>(message.category), message.bytes);
  std::vector<std::byte>& other = node.request_source;
  other.assign(message.bytes, {});
  const bool in_segment = message.bytes <= scenario_.message_bytes_max && node.random.chance(0.5);
  const bool is_async =
      message.category == Category::kLong && node.random.chance(0.3) && message.wants_reply;
  std::byte* const slot = in_segment ? free_slot(node) : nullptr;
  std::byte* const source = slot != nullptr ? slot : other.data();
  fill_pattern({source, message.bytes}, message.content);
  ledger_[number].deadline = deadlines_.begin(message.from, message.to, "a request");
  const uint64_t call_returns = deadlines_.begin(message.from, message.to, "the call of a request");
  switch (message.category) {
    case Category::kShort:
      request_short(message.to, call);
      break;
    case Category::kMedium:
      request_medium(message.to, call, source, message.bytes);
      break;
    case Category::kLong:
    case Category::kCarriedLong:
      request_long(message.to, call, source, message.bytes,
                   address_of(nodes_[message.to]->memory->window_address(message.range.offset)),
                   is_async);
      break;
  }
  deadlines_.end(call_returns);
  if (is_async) {
    node.lent.push_back({number, {source, message.bytes}, std::move(other)});
  } else {
    std::fill_n(source, message.bytes, kScribble);
  }
  while (!node.lent.empty() && ledger_[node.lent.front().number].runs > 0) {
    const std::span<std::byte> bytes = node.lent.front().source;
    std::fill_n(bytes.data(), bytes.size(), kScribble);
    node.lent.pop_front();  // frees it, if it is outside the segment
  }
}

void AmWorld::handle(pinwire_token& token, Category category, std::span<const int32_t> args,
                     std::span<std::byte> payload) {
  const Rank rank = engine.rank;
  const ActiveMessage* const found =
      ledger_.arrived(rank, token.source, token.is_request, category, args, payload);
  if (found == nullptr) return;
  const ActiveMessage message = *found;
  deadlines_.end(message.deadline);
  if (category == Category::kMedium && !payload.empty()) {
    if (reinterpret_cast<uintptr_t>(payload.data()) % 8 != 0) {
      return verdict_.fail("rank %u: a Medium's payload is not aligned", rank);
    }
    std::fill_n(payload.data(), payload.size(), kScribble);  // the handler may write to it
  }
  if (category == Category::kLong) {
    const uint64_t wanted = nodes_[rank]->memory->window_address(message.range.offset);
    if (reinterpret_cast<uintptr_t>(payload.data()) != wanted) {
      return verdict_.fail("rank %u: a Long's payload is in the wrong place", rank);
    }
    shadow_.end_put(message.put_id);
  }
  if (message.wants_reply) send_reply(token, message);
}

void AmWorld::send_reply(pinwire_token& token, const ActiveMessage& asked) {
  ActiveMessage reply{
      .from = asked.to, .to = asked.from, .is_request = false, .category = asked.reply_category};
  reply.argc = asked.reply_argc;
  reply.bytes = asked.reply_bytes;
  reply.content = reply.argc == 0 ? kNamelessContent : random_.next();
  if (reply.category == Category::kLong) {
    if (reserve(reply.from, reply.to, reply.bytes, reply.range, reply.content)) {
      reply.put_id = shadow_.begin_put(reply.to, reply.range);
    } else {  // the sender of a LongAsync needs some reply (C1-146)
      reply.category = Category::kShort;
      reply.bytes = 0;
    }
  }
  const uint32_t number = ledger_.enter(reply);
  verdict_.trace("rank %u: reply %u to %u", reply.from, number, reply.to);
  std::array<int32_t, kAmArgsMax> args{};
  ledger_.write_args(number, {args.data(), reply.argc});
  const AmCall call{handler_of(reply), reply.argc, args.data()};
  std::vector<std::byte>& other = nodes_[reply.from]->reply_source;
  other.assign(reply.bytes, {});
  // No two replies of a rank are under construction at once, so they share a slot of the segment.
  const bool in_segment = reply.bytes <= scenario_.message_bytes_max && random_.chance(0.5);
  std::byte* const slot = nodes_[reply.from]->memory->slot(scenario_.in_flight_max);
  std::byte* const source = in_segment ? slot : other.data();
  fill_pattern({source, reply.bytes}, reply.content);
  ledger_[number].deadline = deadlines_.begin(reply.from, reply.to, "a reply");
  const uint64_t call_returns = deadlines_.begin(reply.from, reply.to, "the call of a reply");
  switch (reply.category) {
    case Category::kShort:
      reply_short(token, call);
      break;
    case Category::kMedium:
      reply_medium(token, call, source, reply.bytes);
      break;
    case Category::kLong:
    case Category::kCarriedLong:
      reply_long(token, call, source, reply.bytes,
                 address_of(nodes_[reply.to]->memory->window_address(reply.range.offset)));
      break;
  }
  deadlines_.end(call_returns);
  std::fill_n(source, reply.bytes, kScribble);
}

}  // namespace pinwire::sim
