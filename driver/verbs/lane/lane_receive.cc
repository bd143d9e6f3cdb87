// Messages that arrive, the credit that their senders get back, and sleeping.
#include <algorithm>

#include "driver/verbs/lane/lane.h"

namespace pinwire::verbs {

uint32_t Lane::recv(RecvFilter filter, std::span<Recv> out) noexcept {
  reap_if_due();
  has_reaped_ = true;
  if (chores_ != 0) [[unlikely]]
    do_chores();
  std::optional<ibv_wc> bad;
  uint32_t count = 0;
  if (out.empty()) {  // a caller that takes nothing asks has_arrivals() next
    arrivals_.look(receive_, bad);
  } else {
    count = arrivals_.poll(filter, out, receive_, bad);
  }
  if (bad) [[unlikely]]
    note_bad_arrival(*bad);
  counters_.messages_received += count;
  if (shared_.peers_max != 0) [[unlikely]]
    tend_pool(out.first(count));
  return count;
}

void Lane::note_bad_arrival(const ibv_wc& arrived) noexcept {
  if (arrived.status != IBV_WC_SUCCESS) {
    note_failure(arrived);
    return;
  }
  shared_.failure.record(shared_.info.rank, WorkStatus::kRemoteAccess,
                         "%s port %u: rank %u got a message of %u bytes from rank %u of %u, which "
                         "makes no sense; do all ranks run the same build?",
                         shared_.device.name.c_str(), shared_.device.port, shared_.info.rank,
                         arrived.byte_len, arrived.imm_data, shared_.info.rank_count);
}

void Lane::give_back(std::span<const Recv> buffers) noexcept {
  for (const Recv& recv : buffers) {
    receive_[static_cast<size_t>(recv.cls)].give_back(recv.peer,
                                                      static_cast<uint32_t>(recv.buffer));
    if (recv.cls != MessageClass::kRequest) continue;
    Peer& peer = peer_at(recv.peer);
    ++peer.given_back;
    dcheck(!peer.pooled || peer.given_back <= peer.pooled->requests_received,
           "a request is given back that did not come", recv.peer, peer.given_back);
    if (peer.given_back - peer.reported == report_every()) report_credit(peer);
  }
}

void Lane::report_credit(Peer& peer) noexcept {
  Link& link = peer.links[static_cast<size_t>(MessageClass::kReply)];
  if (!has_room(link, 1, Claim::kReply) || small_.free_count() == 0) {
    if (&peer == &unconnected_ || &peer == &connecting_)
      return;  // a message that named a wrong rank
    if (!open_peer(peer.rank)) {
      chores_ |= kReportCredit;
      return;
    }
  }
  dcheck(peer.is_open, "credit for a peer whose connections are not open", peer.rank);
  dcheck(peer.reported < peer.given_back, "credit is reported twice", peer.rank, peer.reported);
  // A Work like any other, but for a word that peers do not pin as a segment.
  Work report{};
  report.op = Op::kPut;
  report.cls = MessageClass::kReply;
  report.flags = kWorkCopied | kWorkSilent;
  report.peer = peer.rank;
  report.local = &peer.given_back;
  report.bytes = sizeof peer.given_back;
  report.remote = peer.credit_address;
  report.remote_key = peer.credit_key;
  dcheck(chain_.count() == 0, "requests are lost that were not posted", chain_.count());
  chain_.start(link);
  append_put(link, report, true);
  ring(link);
  peer.reported = peer.given_back;
  ++counters_.credit_reports;
}

void Lane::do_chores() noexcept {
  const uint32_t chores = std::exchange(chores_, chores_ & kAskAll);
  for (Peer* peer = met_.load(std::memory_order_acquire); peer != nullptr; peer = peer->next) {
    const bool owes_credit = peer->given_back - peer->reported >= report_every();
    if ((chores & kReportCredit) != 0 && owes_credit) report_credit(*peer);
    if ((chores & (kAskAll | kAskForRoom)) == 0) continue;
    for (Link& link : peer->links) ask_for_completions(link);
  }
}

/// A request that writes nothing, and completes after all before it. It may take of the entries
/// that are kept for it.
void Lane::ask_for_completions(Link& link) noexcept {
  const bool has_ticket = tickets_.free_count() > finished_.size();
  if (link.unsignalled == 0 || link.room < 1 || room_ == 0 || !has_ticket) return;
  dcheck(chain_.count() == 0, "requests are lost that were not posted", chain_.count());
  chain_.start(link);
  ibv_send_wr& request = chain_.add(IBV_WR_RDMA_WRITE);
  const uint32_t ticket = tickets_.take();
  tickets_.at(ticket).after = After::kQuiet;
  finish(link, request, ticket);
  ring(link);
}

bool Lane::drained() const noexcept {
  chores_ |= kAskAll;
  if (tickets_.in_use() != 0) return false;
  for (const Peer* peer = met_.load(std::memory_order_acquire); peer != nullptr;
       peer = peer->next) {
    for (const Link& link : peer->links) {
      if (link.unsignalled != 0) return false;
    }
  }
  return true;
}

Armed Lane::arm() noexcept {
  ibv_cq* source = nullptr;
  void* context = nullptr;
  while (ibv_get_cq_event(channel_.get(), &source, &context) == 0) ibv_ack_cq_events(source, 1);
  // Ask, look once more, sleep: what came before the asking makes no event.
  const bool is_asked = ibv_req_notify_cq(completions_.get(), 0) == 0;
  if (!arrivals_.request_notification() || !is_asked) return Armed::kBusy;
  // A peer that is about to be met makes no event.
  const uint64_t answered = answered_.load(std::memory_order_relaxed);
  dcheck(answered <= asked_, "more invitations are answered than there were", answered, asked_);
  bool is_busy = !finished_.empty() || (chores_ & kReportCredit) != 0 || asked_ != answered;
  const uint32_t room_before = room_;
  reap();
  is_busy = is_busy || room_ != room_before || shared_.failure.get() != nullptr;
  std::optional<ibv_wc> bad;
  is_busy = arrivals_.look(receive_, bad) || is_busy;
  if (bad) [[unlikely]]
    note_bad_arrival(*bad);
  if (is_busy || bad) return Armed::kBusy;
  ++counters_.wakeups_armed;
  return Armed::kArmed;
}

}  // namespace pinwire::verbs
