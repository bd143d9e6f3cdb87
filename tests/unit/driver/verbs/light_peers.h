// Thousands of ranks on one fake device that are no whole driver: each greets, answers, closes its
// connections when it is asked to, and answers requests, by the driver's own wire formats
// (greeting.h, disconnect.h). They share one queue for datagrams, one receive queue for each class
// and two completion queues, so that a rank without a connection costs some 200 bytes. All of them
// talk to rank 0 alone.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/verbs/connect/datagrams.h"
#include "driver/verbs/connect/greeting.h"
#include "driver/verbs/device/device.h"
#include "driver/verbs/device/memory.h"
#include "driver/verbs/peer/address.h"
#include "driver/verbs/peer/queue_pair.h"
#include "driver/verbs/receive/receive_queue.h"

namespace pinwire {

class LightPeers {
 public:
  /// A request or a reply: `number` counts a sender's requests, and its reply has the same.
  struct Head {
    uint64_t rank;  ///< the light one
    uint64_t number;
  };
  /// Told to the test as it happens.
  struct Events {
    std::function<void(Rank)> on_ask;  ///< rank 0 wants its connection closed
    std::function<void(Rank)> on_close;
    std::function<void(Rank, const Head&, MessageClass)> on_message;
  };

  /// Makes ranks 1 to `rank_count` - 1, each with one word in `words` that may be put to.
  LightPeers(const std::string& device, Rank rank_count, uint64_t job_key, Events events);

  /// Each of them tells this to connect() of rank 0's driver.
  std::vector<std::byte> address() const;
  void connect(std::span<const std::byte> address_of_rank_0);
  /// Everything that can be done now.
  void turn();
  /// Has the rank send a request to rank 0, which it greets for that unless it is connected.
  void call(Rank rank);
  /// To queue pairs of rank 0.
  bool is_connected(Rank rank) const { return !(peers_[rank].theirs == verbs::Ends{}); }
  uint64_t hellos() const { return hellos_; }
  /// Copies of hellos that came late, after their connections had closed.
  uint64_t late_hellos() const { return late_hellos_; }
  uint64_t& word(Rank rank) { return reinterpret_cast<uint64_t*>(words_.base())[rank]; }
  uint64_t word_address(Rank rank) { return reinterpret_cast<uint64_t>(&word(rank)); }
  uint32_t words_key() const { return words_.remote_key(); }

 private:
  static constexpr uint32_t kReceives = 1024, kMessageBytes = 64, kSendDepth = 32;
  static constexpr uint32_t kRequest = static_cast<uint32_t>(MessageClass::kRequest);
  static constexpr uint32_t kReply = static_cast<uint32_t>(MessageClass::kReply);
  using Greeting = verbs::Greeting;

  struct LightPeer {
    verbs::QueuePair queues[verbs::kLinksPerPeer];
    verbs::Ends mine, theirs;
    verbs::Disconnect protocol;
    verbs::Traffic traffic;
    std::optional<Greeting> hello;  ///< the last one of this epoch
    uint32_t under_way = 0;         ///< work that has not completed
    uint64_t given_back = 0;        ///< requests of rank 0's
    uint64_t requests_sent = 0;
    uint64_t requests_wanted = 0;  ///< by call()
    uint32_t hello_in_turns = 0;
    bool is_met = false;  ///< rank 0 listens
  };

  void hear(const Greeting& greeting);
  void hear_closing(const Greeting& greeting);
  void meet(Rank rank, const verbs::Ends& theirs);
  void make_queues(Rank rank);
  void close(Rank rank);
  void say(Greeting greeting, Rank from);
  void say(Greeting::Kind kind, Rank from);
  void take_messages();
  void take_completions();
  void handle(Rank rank, const Head& head, MessageClass cls);
  void send(Rank rank, const Head& head, MessageClass cls);
  void report_credit(Rank rank);
  void post(Rank rank, uint32_t link, ibv_send_wr request, const void* data, uint32_t bytes);
  void tend_calls();

  const uint64_t job_key_;
  Events events_;
  verbs::Device device_;
  verbs::Datagrams datagrams_;
  verbs::Owned<ibv_cq, ibv_destroy_cq> sent_, arrived_;
  verbs::ReceiveQueue receives_[verbs::kLinksPerPeer];
  verbs::Memory words_;    ///< [rank]
  verbs::Memory credits_;  ///< [rank]: requests that rank 0 has given back
  verbs::Place rank_0_;
  std::vector<LightPeer> peers_;
  std::map<uint32_t, std::pair<Rank, MessageClass>> by_queue_;
  uint64_t hellos_ = 0, late_hellos_ = 0;
  std::vector<Rank> callers_;  ///< ranks with requests that are not sent
};

}  // namespace pinwire
