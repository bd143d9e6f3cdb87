// Two ranks of the production verbs driver on a fake network, one of which sends messages to the
// other; without GoogleTest, for programs that run for hours.
#pragma once

#include <memory>
#include <utility>

#include "core/base/log.h"
#include "driver/verbs/driver.h"
#include "tests/support/verbs/fake_verbs.h"

namespace pinwire_test {

/// One look; how many messages there were.
inline uint32_t turn(pinwire::Driver& driver) {
  pinwire::Recv messages[8];
  const uint32_t count = driver.recv(0, pinwire::RecvFilter::kAll, messages);
  driver.give_back(0, {messages, count});
  pinwire::Done done[8];
  driver.done(0, done);
  return count;
}

/// False: there is no room.
inline bool post_message(pinwire::Driver& driver, pinwire::Rank to) {
  const uint64_t head = 7;
  pinwire::Work work{};
  work.op = pinwire::Op::kSend;
  work.cls = pinwire::MessageClass::kReply;
  work.flags = pinwire::kWorkCopied | pinwire::kWorkSilent;
  work.head_bytes = sizeof head;
  work.peer = to;
  work.head = &head;
  return driver.post(0, {&work, 1}) == 1;
}

/// Open, and connected.
class SenderReceiver {
 public:
  static constexpr pinwire::Rank kSender = 0, kReceiver = 1;

  explicit SenderReceiver(pinwire::fake_verbs::Fabric& fabric) {
    fabric.add(pinwire::fake_verbs::roce("left", 1));
    fabric.add(pinwire::fake_verbs::roce("right", 2));
    // The search of these costs more than all the rest.
    fabric.set_strictness(
        {.stable_sources = false, .poisoned_receives = false, .late_reads = false});
    open(kSender, "left");
    open(kReceiver, "right");
    connect(kSender, kReceiver);
    connect(kReceiver, kSender);
    meet();
  }
  pinwire::Driver& sender() { return *ranks_[kSender]; }
  pinwire::Driver& receiver() { return *ranks_[kReceiver]; }

 private:
  void open(pinwire::Rank rank, const char* device) {
    pinwire::VerbsOptions options;
    options.device = device;
    options.connects_in_polls = true;
    auto made = pinwire::make_verbs_driver(options);
    if (!made.ok()) pinwire::fatal("%s", made.sentence().c_str());
    ranks_[rank] = std::move(*made);
    const pinwire::Status opened = ranks_[rank]->open(
        {.rank = rank, .rank_count = 2, .job_key = 0x1234567, .network_depth = 32});
    if (!opened.ok()) pinwire::fatal("%s", opened.sentence().c_str());
  }
  void connect(pinwire::Rank from, pinwire::Rank to) {
    const pinwire::Status connected = ranks_[from]->connect(to, ranks_[to]->address());
    if (!connected.ok()) pinwire::fatal("%s", connected.sentence().c_str());
  }
  /// A message each way, as connections are made by polls here, for which nobody is woken.
  void meet() {
    bool is_sent[2] = {};
    uint32_t arrived[2] = {};
    while (arrived[0] == 0 || arrived[1] == 0 || !sender().drained(0) || !receiver().drained(0)) {
      for (const pinwire::Rank rank : {kSender, kReceiver}) {
        is_sent[rank] = is_sent[rank] || post_message(*ranks_[rank], 1 - rank);
        arrived[rank] += turn(*ranks_[rank]);
      }
    }
  }

  std::unique_ptr<pinwire::Driver> ranks_[2];
};

}  // namespace pinwire_test
