// Makes the connections of a driver, each when the first work for it is posted, or the peer says
// hello (greeting.h). It has a thread of its own, which sleeps while there is nothing to do: so the
// data plane neither allocates nor waits for the kernel, and a rank that computes for an hour
// without a call of GASNet is connected all the same.
//
// A rank that does not answer is greeted again, at growing intervals. It may be stopped in a
// debugger, or its host may be overloaded, so patience is long (GASNET_CONNECT_TIMEOUT); then the
// job ends with a sentence. A rank that died is noticed earlier, by the launcher.
#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/counter.h"
#include "core/base/random.h"
#include "driver/verbs/connect/connection_manager.h"
#include "driver/verbs/connect/datagrams.h"
#include "driver/verbs/connect/greeting.h"
#include "driver/verbs/lane/lane.h"

namespace pinwire::verbs {

/// By who makes connections, one thread at a time.
struct ConnectorCounters {
  Counter greetings_sent;
  Counter greetings_received;
  Counter greetings_ignored;  ///< of no rank of the job, or senseless
  Counter met;                ///< connections of a peer and a lane
  // Under a bound, likewise.
  Counter closed;
  Counter made_anew;
  Counter refused;     ///< closings that this rank asked for
  Counter over_bound;  ///< made though there was no place
};

class Connector {
 public:
  Connector(Shared& shared, std::span<const std::unique_ptr<Lane>> lanes) noexcept
      : shared_(shared), lanes_(lanes), random_(shared.info.job_key + shared.info.rank) {}
  ~Connector() { close(); }
  Connector(const Connector&) = delete;

  Status open();
  void close() noexcept;
  /// 0: the device has no datagrams, so that all connections are made at start, over the bootstrap.
  uint32_t datagram_queue() const noexcept {
    return datagrams_.is_open() ? datagrams_.number() : 0;
  }
  /// Where this rank is reached: fills in all but the device's own address.
  void fill_in(Place& place) const noexcept;
  Status meet_all();
  Status join_all(Rank rank, std::span<const Ends> ends);  ///< [rank][lane] of that rank's
  std::vector<Ends> all_ends() const;                      ///< [rank][lane]

  /// Without a thread: what it would do, at most once at a time. Any lane's holder.
  void turn_in_poll() noexcept;
  const ConnectorCounters& counters() const noexcept { return counters_; }

 private:
  struct Wait {
    Lane* lane;
    Peer* peer;
  };
  /// Under a bound: a rank whose connections are to be made.
  struct Newcomer {
    Lane* lane;
    Rank rank;
    uint64_t since_us;
    bool is_invited;
    std::optional<Greeting> hello;
  };
  /// Likewise: those of a lane that have connections, but for this rank itself.
  struct Pool {
    std::vector<Peer*> connected;
    size_t places = 0;  ///< as of this turn: as many may be connected
  };

  /// Everything that can be done now; microseconds until something more is due.
  uint64_t turn(uint64_t now_us) noexcept;
  void invite(Lane& lane, Rank rank, uint64_t now_us) noexcept;
  void want(Lane& lane, Peer& peer, uint64_t now_us) noexcept;
  void take(const Datagrams::Arrival& arrival, uint64_t now_us) noexcept;
  void hear(Lane& lane, Peer& peer, const Greeting& greeting) noexcept;
  bool join_ends(Lane& lane, Peer& peer, const Ends& theirs) noexcept;
  void begin_use(Lane& lane, Peer& peer) noexcept;
  void answer_if_wanted(Lane& lane, Peer& peer) noexcept;
  void repeat_from(Lane& lane, Peer& peer, uint64_t now_us) noexcept;
  uint64_t repeat(uint64_t now_us) noexcept;
  void repeat(const Wait& wait, uint64_t now_us) noexcept;
  void say(Greeting::Kind kind, Lane& lane, const Peer& peer) noexcept;
  void send(const Greeting& greeting) noexcept;
  Peer* peer_of(Lane& lane, Rank rank) noexcept;
  void note_unmet(Rank rank, const Status& why) noexcept;
  Status open_manager();
  void give_up(const Peer& peer, uint64_t now_us) noexcept;
  Status start_thread();
  void run() noexcept;
  void sleep(uint64_t for_us) noexcept;

  // connector_pool.cc
  bool needs_place(Lane& lane, Rank rank) const noexcept;
  void await_place(Lane& lane, Rank rank, const Greeting* hello, uint64_t now_us) noexcept;
  uint64_t admit_newcomers(uint64_t now_us) noexcept;
  void admit(const Newcomer& one, uint64_t now_us) noexcept;
  bool is_of_now(Lane& lane, const Greeting& greeting, uint64_t now_us) noexcept;
  size_t count_asked(const Pool& pool, uint64_t now_us, bool is_long_ago) const noexcept;
  uint64_t want_places(Lane& lane, uint64_t now_us) noexcept;
  static Peer* least_recently_used(const Pool& pool, uint64_t now_us) noexcept;
  void note_tried(Lane& lane, Peer& peer, uint64_t now_us) noexcept;
  void settle_hold(Lane& lane, Rank rank, uint64_t now_us) noexcept;
  size_t count_waiting(const Lane& lane) const noexcept;
  bool needs_places(const Lane& lane) const noexcept;
  void give_back(Lane& lane, Peer& peer, uint64_t now_us) noexcept;
  void reopen(Lane& lane, Peer& peer, uint64_t now_us) noexcept;
  void hear_closing(Lane& lane, const Greeting& greeting, uint64_t now_us) noexcept;
  void want_answer(Lane& lane, Peer& peer, const DisconnectMessage& ask) noexcept;
  void act_on(Lane& lane, Peer& peer, const Disconnect::Heard& heard, uint64_t now_us) noexcept;
  void close_connection(Lane& lane, Peer& peer, uint64_t now_us) noexcept;
  void say_closing(Lane& lane, Rank to, const DisconnectMessage& message) noexcept;

  Shared& shared_;
  std::span<const std::unique_ptr<Lane>> lanes_;
  Random random_;
  Datagrams datagrams_;
  std::unique_ptr<ConnectionManager> manager_;  ///< of an iWARP device
  std::vector<Wait> waits_;  ///< wanted and not yet met; or asked to close, and not yet answered
  std::vector<Pool> pools_;  ///< by lane
  std::vector<Newcomer> newcomers_;  ///< in the order of their coming
  ConnectorCounters counters_;
  pthread_t thread_{};
  bool has_thread_ = false;
  std::atomic<bool> is_ending_{false};
  std::atomic<bool> is_turning_{false};
  uint64_t polls_ = 0;
};

}  // namespace pinwire::verbs
