#include "tests/unit/driver/verbs/light_peers.h"

#include <cstring>

#include "driver/verbs/peer/packet_number.h"

namespace pinwire {
namespace {

using verbs::DisconnectMessage;
using verbs::kLinksPerPeer;

/// Turns between two greetings of one rank.
constexpr uint32_t kHelloTurns = 300;

template <typename T>
T checked(Result<T> made) {
  check(made.ok(), "a light peer cannot be made");
  return std::move(*made);
}

verbs::Memory reachable(const verbs::Device& device, Rank rank_count, const char* what) {
  return checked(verbs::Memory::make(device, rank_count * sizeof(uint64_t),
                                     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, what));
}

}  // namespace

LightPeers::LightPeers(const std::string& device, Rank rank_count, uint64_t job_key, Events events)
    : job_key_(job_key), events_(std::move(events)), peers_(rank_count) {
  VerbsOptions options;
  options.device = device;
  device_ = checked(verbs::open_device(options, false));
  check(checked(datagrams_.open(device_, verbs::datagram_key(job_key))), "no datagrams");
  ibv_context* context = device_.context.get();
  sent_.reset(ibv_create_cq(context, 4096, nullptr, nullptr, 0));
  arrived_.reset(ibv_create_cq(context, 2 * kReceives, nullptr, nullptr, 0));
  for (const MessageClass cls : {MessageClass::kRequest, MessageClass::kReply}) {
    const Status opened = receives_[static_cast<size_t>(cls)].open(
        device_, device_.pd.get(), cls, {kReceives, 0, kMessageBytes, rank_count});
    check(opened.ok(), "no receive queue");
  }
  words_ = reachable(device_, rank_count, "words");
  credits_ = reachable(device_, rank_count, "credits");
}

std::vector<std::byte> LightPeers::address() const {
  verbs::Address address;
  address.place = {device_.gid.bytes, datagrams_.number(), device_.port_facts.lid,
                   static_cast<uint8_t>(device_.port_facts.active_mtu)};
  address.is_ethernet = device_.is_ethernet;
  address.lanes = 1;
  return encode(address);
}

void LightPeers::connect(std::span<const std::byte> address_of_rank_0) {
  const auto count = static_cast<Rank>(peers_.size());
  rank_0_ = checked(verbs::decode(address_of_rank_0, count)).place;
}

void LightPeers::turn() {
  take_messages();  // first, so that an ask finds the counts as they are
  take_completions();
  while (const auto arrival = datagrams_.receive()) {
    const auto greeting = verbs::decode(arrival->bytes, job_key_);
    ASSERT_TRUE(greeting && greeting->from == 0 && greeting->to < peers_.size());
    if (is_about_closing(greeting->kind)) {
      hear_closing(*greeting);
    } else {
      hear(*greeting);
    }
  }
  tend_calls();
}

void LightPeers::call(Rank rank) {
  ++peers_[rank].requests_wanted;
  callers_.push_back(rank);
}

void LightPeers::tend_calls() {
  std::erase_if(callers_, [&](Rank rank) {
    LightPeer& peer = peers_[rank];
    if (peer.is_met) {
      send(rank, {rank, ++peer.requests_sent}, MessageClass::kRequest);
      return true;
    }
    if (peer.hello_in_turns-- == 0) {
      peer.hello_in_turns = kHelloTurns;
      if (!peer.queues[0]) make_queues(rank);
      say(Greeting::Kind::kHello, rank);
    }
    return false;
  });
}

void LightPeers::hear(const Greeting& greeting) {
  const Rank rank = greeting.to;
  LightPeer& peer = peers_[rank];
  // They ask nobody, so rank 0 is never ahead; a late copy is of an earlier epoch.
  if (peer.protocol.greeted(greeting.epoch) != verbs::Disconnect::Epoch::kCurrent) return;
  if (!peer.queues[0]) {
    if (greeting.kind != Greeting::Kind::kHello) return;
    make_queues(rank);
  }
  if (!is_connected(rank)) meet(rank, greeting.ends);
  EXPECT_EQ(peer.theirs, greeting.ends) << "rank 0's ends changed in one epoch";
  if (greeting.kind == Greeting::Kind::kHello) return say(Greeting::Kind::kAnswer, rank);
  peer.is_met = true;
  if (greeting.kind == Greeting::Kind::kAnswer) say(Greeting::Kind::kReady, rank);
}

void LightPeers::hear_closing(const Greeting& greeting) {
  const Rank rank = greeting.to;
  LightPeer& peer = peers_[rank];
  const DisconnectMessage message = disconnect_message(greeting);
  if (message.kind == DisconnectMessage::Kind::kAsk && message.epoch == peer.protocol.epoch()) {
    events_.on_ask(rank);
  }
  const bool is_quiet = is_connected(rank) && peer.under_way == 0;
  const auto heard = peer.protocol.hear(message, is_quiet, peer.traffic);
  if (heard.is_closed) close(rank);
  if (heard.answer) {
    Greeting answer;
    set_disconnect_message(answer, *heard.answer);
    say(answer, rank);
  }
  if (!heard.is_closed || !peer.hello) return;
  say(*std::exchange(peer.hello, std::nullopt), rank);
  ++late_hellos_;
}

void LightPeers::make_queues(Rank rank) {
  LightPeer& peer = peers_[rank];
  for (const MessageClass cls : {MessageClass::kRequest, MessageClass::kReply}) {
    const auto link = static_cast<size_t>(cls);
    verbs::QueueSizes sizes{kSendDepth, kMessageBytes};
    peer.queues[link] = checked(verbs::make_queue_pair(
        device_, {device_.pd.get(), sent_.get(), arrived_.get(), receives_[link].shared_queue(), 0},
        sizes));
    peer.mine.queue_pairs[link] = peer.queues[link]->qp_num;
    by_queue_[peer.queues[link]->qp_num] = {rank, cls};
  }
  peer.mine.credit_address = reinterpret_cast<uint64_t>(credits_.base()) + rank * sizeof(uint64_t);
  peer.mine.credit_key = credits_.remote_key();
}

void LightPeers::meet(Rank rank, const verbs::Ends& theirs) {
  LightPeer& peer = peers_[rank];
  peer.theirs = theirs;
  for (uint32_t link = 0; link < kLinksPerPeer; ++link) {
    const auto packets = [&](Rank from, Rank to) {
      return verbs::first_packet_number(job_key_, from, to, peer.protocol.epoch(), link);
    };
    const Status joined = verbs::connect_queue_pair(
        device_, peer.queues[link].get(),
        {theirs.queue_pairs[link], packets(0, rank), rank_0_.lid, rank_0_.gid, rank_0_.mtu},
        packets(rank, 0), {18, 6});
    ASSERT_TRUE(joined.ok()) << joined.sentence();
  }
}

void LightPeers::close(Rank rank) {
  LightPeer& peer = peers_[rank];
  for (auto& queue : peer.queues) {
    by_queue_.erase(queue->qp_num);
    queue.reset();
  }
  peer.mine = peer.theirs = {};
  peer.is_met = false;
  peer.hello_in_turns = 0;
  events_.on_close(rank);
}

void LightPeers::say(Greeting::Kind kind, Rank from) {
  Greeting greeting;
  greeting.kind = kind;
  greeting.ends = peers_[from].mine;
  greeting.epoch = peers_[from].protocol.epoch();
  if (kind == Greeting::Kind::kHello) {
    peers_[from].hello = greeting;
    ++hellos_;
  }
  say(greeting, from);
}

void LightPeers::say(Greeting greeting, Rank from) {
  greeting.from = from;
  greeting.to = 0;
  greeting.lane = 0;
  datagrams_.send(rank_0_, encode(greeting, job_key_));  // rank 0 repeats, if it does not leave
}

void LightPeers::take_messages() {
  ibv_wc found[32];
  const int count = ibv_poll_cq(arrived_.get(), 32, found);
  for (int i = 0; i < count; ++i) {
    const auto [rank, cls] = by_queue_.at(found[i].qp_num);
    verbs::ReceiveQueue& queue = receives_[static_cast<size_t>(cls)];
    Recv message;
    std::optional<ibv_wc> bad;
    ASSERT_TRUE(queue.take(found[i], message, bad));
    EXPECT_EQ(message.peer, 0u);
    EXPECT_EQ(message.bytes, sizeof(Head));
    Head head;
    std::memcpy(&head, message.data, sizeof head);
    queue.give_back(0, static_cast<uint32_t>(message.buffer));
    handle(rank, head, cls);
  }
}

void LightPeers::handle(Rank rank, const Head& head, MessageClass cls) {
  LightPeer& peer = peers_[rank];
  ++peer.traffic.received;
  peer.is_met = true;
  events_.on_message(rank, head, cls);
  if (cls == MessageClass::kReply) return;
  ++peer.given_back;
  send(rank, head, MessageClass::kReply);
  report_credit(rank);
}

void LightPeers::send(Rank rank, const Head& head, MessageClass cls) {
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND_WITH_IMM;
  request.imm_data = rank;
  ++peers_[rank].traffic.sent;
  post(rank, static_cast<uint32_t>(cls), request, &head, sizeof head);
}

void LightPeers::report_credit(Rank rank) {
  const LightPeer& peer = peers_[rank];
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma.remote_addr = peer.theirs.credit_address;
  request.wr.rdma.rkey = peer.theirs.credit_key;
  post(rank, kReply, request, &peer.given_back, sizeof peer.given_back);
}

void LightPeers::post(Rank rank, uint32_t link, ibv_send_wr request, const void* data,
                      uint32_t bytes) {
  ibv_sge place{reinterpret_cast<uint64_t>(data), bytes, 0};
  request.wr_id = rank;
  request.sg_list = &place;
  request.num_sge = 1;
  request.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
  ibv_send_wr* refused = nullptr;
  ASSERT_EQ(ibv_post_send(peers_[rank].queues[link].get(), &request, &refused), 0);
  ++peers_[rank].under_way;
}

void LightPeers::take_completions() {
  ibv_wc found[32];
  const int count = ibv_poll_cq(sent_.get(), 32, found);
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(found[i].status, IBV_WC_SUCCESS) << "of light rank " << found[i].wr_id;
    --peers_[found[i].wr_id].under_way;
  }
}

}  // namespace pinwire
