// One rank's program: starts random operations, answers requests, and lends and returns buffers
// exactly as the contract of driver/driver.h allows, no more kindly than that: what it lent is
// scribbled over the moment it is its own again.
#pragma once

#include <deque>
#include <vector>

#include "core/base/random.h"
#include "driver/driver.h"
#include "tests/sim/client/operation.h"
#include "tests/sim/cluster.h"

namespace pinwire::sim {

/// The step of a client at one instant.
enum class Turn : uint8_t { kWhole, kPoll, kPost };

class Client {
 public:
  Client(Rank rank, Driver& driver, Cluster& cluster);

  /// A poll of the driver, more work for it, or both. True if anything moved.
  bool step(Turn turn = Turn::kWhole);
  /// The work of another thread for a client that computes: the driver's work, and no message.
  void heartbeat();
  /// Everything that it started has ended, and it will start no more.
  bool finished() const;
  /// Lets an idle client sleep, as its driver allows.
  Armed arm();

  /// Its next operation will be against `victim` and must be refused with `status`.
  void commit_crime(Rank victim, WorkStatus status);
  bool punished() const noexcept { return punished_; }
  /// It has not begun that operation yet.
  bool crime_is_due() const noexcept { return crime_due_; }
  void stop() noexcept { to_start_ = 0; }

  Driver& driver() noexcept { return driver_; }
  /// For the sentence about a stuck run.
  std::string state() const;

 private:
  struct Held {
    Recv recv;
    uint64_t message;
    uint32_t lane;
    uint32_t steps_left;
  };
  struct Arrived {
    Recv recv;
    uint32_t lane;
  };

  bool poll();
  bool offer();
  bool receive(uint32_t lane);
  void handle(const Arrived& arrived);
  void answer(uint64_t request, uint32_t lane);
  bool post_replies();
  bool post_reply(Reply& reply);
  bool post_owed();
  bool owes_to(const Reply& reply) const;
  bool return_buffers(bool all);
  bool complete(uint32_t lane);
  void finish(Operation& operation, WorkStatus status);
  void start();
  bool post();
  bool post_lane(uint32_t lane);
  bool post_some(uint32_t lane, std::span<const Work> work, std::span<const uint32_t> slots);
  void after_accept(Operation& operation);
  void abandon(Operation& operation);
  void release(Operation& operation);
  void take_back_lent();

  // client_start.cc: what an operation is made of.
  Operation* free_operation();
  bool make(Operation& operation);
  bool make_message(Operation& operation, bool put);
  bool make_put(Operation& operation);
  bool make_scatter(Operation& operation);
  bool make_get(Operation& operation);
  bool make_atomic(Operation& operation);
  void make_crime(Operation& operation);
  bool reserve_put(Rank target, uint64_t bytes, PutRange& range);
  uint64_t draw_bytes(uint64_t bytes_max);
  uint8_t draw_head_bytes();
  Rank draw_peer();
  bool away(Rank peer) const { return peer >= scenario_.ranks - scenario_.absent_ranks; }
  bool much_under_way_to_absent() const;
  uint64_t copied_bytes_max() const {
    return caps_.copied_bytes_max < cluster_.send_bytes_max ? caps_.copied_bytes_max
                                                            : cluster_.send_bytes_max;
  }
  bool fits_copied(uint64_t bytes) const { return bytes <= copied_bytes_max(); }
  void choose_memory(Operation& operation, uint64_t bytes, bool put);
  bool borrow(Operation& operation, uint64_t bytes);
  void lend_head(Operation& operation, const void* bytes, uint8_t count);
  void lend_memory(Operation& operation, uint64_t bytes);

  Rank rank_;
  Driver& driver_;
  Cluster& cluster_;
  const Scenario& scenario_;
  Caps caps_;
  Random random_;
  std::vector<Operation> operations_;
  std::vector<std::vector<std::byte>> unpinned_;
  std::vector<uint32_t> unposted_;  ///< slots of operations that the driver has not accepted yet
  std::vector<uint32_t> lent_;      ///< slots of silent operations whose buffer the driver has
  std::deque<Reply> replies_;       ///< that a handler waits to post
  uint32_t reply_refusals_ = 0;     ///< of the first of them, in a row
  std::deque<Reply> owed_;          ///< replies that their handlers left to later polls
  std::deque<Arrived> inbox_;       ///< requests that wait behind such a handler
  std::deque<Held> held_;
  std::vector<uint32_t> unanswered_;  ///< requests in flight, per peer
  std::vector<bool> own_cell_busy_;
  uint32_t to_start_;
  uint32_t in_flight_ = 0;
  uint64_t generation_ = 1;
  Rank victim_ = 0;
  WorkStatus crime_ = WorkStatus::kOk;
  bool crime_due_ = false;
  bool punished_ = false;
};

}  // namespace pinwire::sim
