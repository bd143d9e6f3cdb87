// One lane of the verbs driver: a completion queue for what it sends, a receive queue for each
// class of message, a pair of connections to each peer that it met. Calls are serialised by the
// caller (driver.h), but for those of the connector (lane_meet.cc), which makes peers while the
// lane works. Lanes share nothing that changes but the failure.
//
// Selective signalling: a request that owes nobody anything completes silently; every
// kSignalEvery-th on a connection is signalled all the same, so that the room of the send queue
// comes back. Requests of a batch to one peer are posted as one chain: one doorbell.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "core/base/counter.h"
#include "driver/driver.h"
#include "driver/verbs/device/failure.h"
#include "driver/verbs/device/short_read.h"
#include "driver/verbs/device/thread_domain.h"
#include "driver/verbs/lane/chain.h"
#include "driver/verbs/lane/claim.h"
#include "driver/verbs/lane/needs.h"
#include "driver/verbs/lane/rank_queue.h"
#include "driver/verbs/lane/shared.h"
#include "driver/verbs/lane/tickets.h"
#include "driver/verbs/peer/credit_words.h"
#include "driver/verbs/peer/link.h"
#include "driver/verbs/receive/arrivals.h"
#include "driver/verbs/receive/receive_queue.h"

namespace pinwire::verbs {

struct LaneCounters {
  Counter messages_sent;
  Counter messages_received;
  Counter doorbells;
  Counter requests_posted;
  Counter signalled;
  Counter bytes_inline;
  Counter bytes_copied;    ///< through a buffer, either way
  Counter bytes_in_place;  ///< by the device, straight from or to the client's memory
  Counter puts_confirmed;  ///< by a read
  Counter credit_reports;
  Counter wakeups_armed;
  Counter atomics;
};

inline constexpr uint32_t kMediumBytes = 4096;
inline constexpr uint32_t kSmallBuffers = 256;
inline constexpr uint32_t kLargeBuffers = 16;
inline constexpr uint32_t kMessageBytesMax = kMediumBytes + kHeadBytesMax;
/// Unpinned memory goes through buffers of this size.
inline constexpr uint32_t kLargeBufferBytes = 64 * 1024;

class Lane {
 public:
  Lane(Shared& shared, uint32_t index) noexcept : shared_(shared), index_(index) {}
  Status open();
  void close() noexcept;
  uint32_t index() const noexcept { return index_; }

  // lane_meet.cc: the connector's, from its own thread.
  bool next_invited(Rank& rank) noexcept { return invited_ranks_.pop(rank); }
  void answer_invitation() noexcept { answered_.fetch_add(1, std::memory_order_relaxed); }
  Peer* known(Rank rank) noexcept;
  Result<Peer*> meet(Rank rank);
  Status meet_again(Peer& peer);
  void part(Peer& peer) noexcept;
  Status join(Peer& peer, const Ends& theirs);
  ibv_qp* queue_of(Rank rank, uint32_t link) noexcept;

  // lane_pool.cc: likewise the connector's, under a bound.
  /// Asks the lane for Stage::kHeld. False: it has many to look at already.
  bool want_hold(Rank rank) noexcept { return holds_wanted_.push(rank); }
  /// The lane has answered; the stage says how.
  bool next_answered_hold(Rank& rank) noexcept { return holds_answered_.pop(rank); }
  uint64_t uses() const noexcept { return uses_.load(std::memory_order_relaxed); }

  uint32_t post(std::span<const Work> work) noexcept;
  Lent lend() noexcept;
  void take_back(const Lent& lent) noexcept;
  uint32_t done(std::span<Done> out) noexcept;
  uint32_t recv(RecvFilter filter, std::span<Recv> out) noexcept;
  bool has_thread_domain() const noexcept { return domain_.is_open(); }
  /// Whether recv() has seen a message that it did not hand out, or done() has something to give.
  bool has_arrivals() const noexcept { return !finished_.empty() || arrivals_.has_kept(); }
  void give_back(std::span<const Recv> buffers) noexcept;
  int event_fd() const noexcept { return channel_->fd; }
  Armed arm() noexcept;
  bool drained() const noexcept;
  const LaneCounters& counters() const noexcept { return counters_; }

 private:
  static constexpr uint32_t kSignalEvery = 16;
  static constexpr uint32_t kSilentTurns = 64;
  // One Work takes two at most: kPutSend does, and a put with the read that confirms it.
  static constexpr uint32_t kWorkRequestsMax = 2;

  /// For so many requests: on the connection, in the completion queue, and for what is kept of them
  /// until done() has handed it out.
  bool has_room(const Link& link, uint32_t count, Claim claim) const noexcept {
    const uint32_t left = left_by(claim, capacity_);
    return link.room >= static_cast<int32_t>(count) && room_ >= count + left + kCompletionsKept &&
           tickets_.free_count() >= finished_.size() + count + left;
  }
  /// Requests given back between two reports to their sender.
  uint32_t report_every() const noexcept { return std::max(shared_.window / 4, 1u); }

  // lane_open.cc
  Status open_queues();
  Status open_receives();
  Status try_links();
  Status divide_receives();
  Status divide_completions();

  // lane_meet.cc
  Status make_links(Peer& peer, QueueSizes& sizes);
  Status add_receives(Peer& peer);
  bool open_peer(Rank rank) noexcept;

  // lane_pool.cc
  void note_sent(Peer& peer, bool is_message) noexcept;
  void tend_pool(std::span<const Recv> arrived) noexcept;
  void note_use(Pooled& pooled) noexcept;
  void answer_holds() noexcept;
  void answer_hold(Peer& peer) noexcept;
  bool is_quiet(const Peer& peer) const noexcept;

  // lane_post.cc
  bool append(const Work& work) noexcept;
  bool append_put(Link& link, const Work& work, bool is_last) noexcept;
  bool append_confirmed_put(Link& link, const Work& work) noexcept;
  void append_message(Link& link, const Work& work, uint64_t payload_bytes) noexcept;
  bool append_get(Link& link, const Work& work) noexcept;
  bool append_copied_get(Link& link, const Work& work, const WideRead& read) noexcept;
  Ticket& append_read(Link& link, const Work& work, const WideRead& read,
                      BufferPool& pool) noexcept;
  bool append_atomic(Link& link, const Work& work) noexcept;
  bool has_buffers(const Work& work, Claim claim) const noexcept;
  BufferPool* pool_for(const Work& work) noexcept;
  uint32_t ticket_for(const Work& work, bool owes_done, BufferPool* pool, uint32_t buffer) noexcept;
  void finish(Link& link, ibv_send_wr& request, uint32_t ticket) noexcept;
  void ring(Link& link) noexcept;
  void take_back(const ibv_send_wr* refused, int reason) noexcept;

  // lane_fence.cc
  bool append_fenced(Link& link, const Work& work) noexcept;
  void send_fenced(Link& link, uint32_t message, ibv_wc_status ahead) noexcept;

  // lane_complete.cc
  void reap() noexcept;
  void reap_if_due() noexcept;
  void settle(const ibv_wc& completion) noexcept;
  bool note_loss(const ibv_wc& completion) noexcept;
  void note_failure(const ibv_wc& completion) noexcept;
  Rank peer_of(uint32_t queue_pair) const noexcept;
  Peer& peer_at(Rank rank) const noexcept {
    dcheck(rank < shared_.info.rank_count, "a rank that the job has not", rank);
    return *peers_[rank].load(std::memory_order_acquire);  // pairs with meet()
  }

  // lane_receive.cc
  void note_bad_arrival(const ibv_wc& arrived) noexcept;
  void report_credit(Peer& peer) noexcept;
  void do_chores() noexcept;
  void ask_for_completions(Link& link) noexcept;

  Shared& shared_;
  const uint32_t index_;
  Owned<ibv_comp_channel, ibv_destroy_comp_channel> channel_;
  Owned<ibv_cq, ibv_destroy_cq> completions_;
  ThreadDomain domain_;
  Arrivals arrivals_;
  Arrivals::Queues receive_;
  Senders senders_;  // on iWARP
  BufferPool small_, large_;
  Tickets tickets_;
  std::vector<Done> finished_;  // its capacity is reserved once: as many as there are tickets
  std::unique_ptr<std::atomic<Peer*>[]> peers_;  // by rank; release by meet() pairs with acquire
  std::atomic<Peer*> met_{nullptr};              // all that were met; likewise
  Peer unconnected_,
      connecting_;  // stand for those that were not; they have no room, so none is posted
  CreditWords credit_words_;
  RankQueue invited_ranks_;                  // to the connector
  RankQueue holds_wanted_, holds_answered_;  // from it, and to it
  std::atomic<uint64_t> uses_{0};            // under a bound; see Pooled::used_at
  std::atomic<uint64_t> answered_{0};        // invitations, by the connector
  uint64_t asked_ = 0;                       // invitations
  Chain chain_;
  uint32_t capacity_ = 0;      // of the completion queue of the sends
  uint32_t room_ = 0;          // of it: requests under way on all connections each take an entry
  uint32_t silent_turns_ = 0;  // see reap_if_due()
  bool has_reaped_ = false;    // recv() has looked for completions since the last done()
  enum Chore : uint32_t {
    kReportCredit = 1,  // a report found no room
    kAskAll = 2,        // for the completions that nobody wanted so far: the lane drains
    kAskForRoom = 4,    // likewise: they take all of the completion queue
  };
  mutable uint32_t chores_ = 0;  // of recv(), by Chore; drained() adds to them
  LaneCounters counters_;
};

}  // namespace pinwire::verbs
