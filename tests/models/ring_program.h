// The production ring of driver/shm/ring.h as a program for the explorer: senders that send
// numbered messages, and one receiver that takes them all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/shm/ring.h"
#include "tests/models/memory.h"

namespace pinwire::model {

struct RingShape {
  uint32_t slots = 4;
  /// Words of each message of each sender, beside the first: 6 fill a slot, more lie in the room.
  std::vector<std::vector<uint32_t>> senders;
  bool is_shared = true;      ///< several writers: the tail is in the ring
  bool one_producer = false;  ///< the senders are threads of one process
  uint32_t held_max = 1;      ///< messages that the receiver holds before it gives them back
  bool sleeps = false;        ///< the receiver, until it is woken, rather than look again
  bool tells_late = false;    ///< that it sleeps: when it first does, rather than from the start on
  bool asks_first = true;     ///< has_message() before next(), as the engine does
  bool frees_early = false;   ///< a mutant: a message is given back before it is read
};

class RingProgram {
 public:
  explicit RingProgram(const RingShape& shape) : shape_(shape) {}

  Report explore(const Mutation& mutation = {}) {
    Program program{.threads = static_cast<uint32_t>(shape_.senders.size()) + 1,
                    .prepare = [this] { prepare(); },
                    .run = [this](uint32_t thread) { run(thread); },
                    .mutation = mutation};
    if (shape_.tells_late) {
      program.barriers.cells = {&control_.sleeps};
      for (uint32_t i = 0; i < shape_.slots; ++i) program.barriers.cells.insert(&slots_[i].word);
      program.barriers.loaded = program.barriers.cells;
    }
    return model::explore(program);
  }

 private:
  using Producer = shm::BasicRingProducer<ModelMemory>;
  using Consumer = shm::BasicRingConsumer<ModelMemory>;
  static constexpr uint32_t kSlotsMax = 8;

  /// As inbox.cc sets a ring up.
  void prepare() {
    name_cell(&control_.tail, "tail");
    name_cell(&control_.head, "head");
    name_cell(&control_.sleeps, "sleeps");
    name_cell(&wakes_, "wakes");
    control_.sleeps.store(shape_.sleeps && !shape_.tells_late ? 1 : 0, std::memory_order_relaxed);
    for (uint32_t i = 0; i < shape_.slots; ++i) {
      name_cell(&slots_[i].word, "word " + std::to_string(i));
      slots_[i].word.store(0, std::memory_order_relaxed);
      for (uint32_t at = 0; at < sizeof slots_[i].body; at += 8) {
        name_cell(slots_[i].body + at, "payload " + std::to_string(i));
      }
      for (uint32_t at = 0; at < shm::kSlotBytes; at += 8) {
        name_cell(room_[i] + at, "line " + std::to_string(i));
      }
    }
    const shm::Extent empty{shape_.slots, shape_.slots};
    control_.tail.store(empty.packed(), std::memory_order_relaxed);
    control_.head.store(empty.packed(), std::memory_order_relaxed);
    if (shape_.one_producer) producers_[0].emplace(view(), true);
  }

  void run(uint32_t thread) {
    if (thread == shape_.senders.size()) {
      receive();
    } else {
      send(thread);
    }
  }

  void send(uint32_t sender) {
    if (!shape_.one_producer) producers_[sender].emplace(view(), shape_.is_shared);
    Producer& producer = *producers_[shape_.one_producer ? 0 : sender];
    for (uint32_t number = 0; number < shape_.senders[sender].size(); ++number) {
      const uint32_t words = shape_.senders[sender][number] + 1;
      shm::Extent place;
      retry([&] { return producer.reserve(words * 8, false, place); });
      for (uint32_t i = 0; i < words; ++i) {
        write_word(producer.body(place, words * 8) + i * 8, content(sender, number, i));
      }
      if (producer.publish(place, sender, words * 8)) {
        wakes_.fetch_add(1, std::memory_order_release);
      }
      settle(number + 1);
    }
  }

  void receive() {
    consumer_.emplace(view());
    Consumer& consumer = *consumer_;
    size_t total = 0;
    for (const auto& messages : shape_.senders) total += messages.size();
    uint32_t next[kThreadsMax] = {};
    uint32_t held = 0;
    Sleeper sleeper;
    for (size_t taken = 0; taken < total; ++taken) {
      Consumer::Message message{};
      if (shape_.sleeps) {
        message = sleep_until_next(sleeper);
      } else {
        retry([&] {
          if (shape_.asks_first && !consumer.has_message()) return false;
          message = consumer.next();
          return message.data != nullptr;
        });
      }
      expect(message.source < shape_.senders.size(), "a message has a sender");
      const uint32_t number = next[message.source]++;
      expect(number < shape_.senders[message.source].size(), "a message arrives once");
      const uint32_t words = shape_.senders[message.source][number] + 1;
      expect(message.bytes == words * 8, "each sender's messages arrive in their order");
      if (shape_.frees_early) consumer.free_next();
      for (uint32_t i = 0; i < words; ++i) {
        expect(read_word(message.data + i * 8) == content(message.source, number, i),
               "a message arrives whole, in order and unharmed");
      }
      if (!shape_.frees_early && (++held == shape_.held_max || taken + 1 == total)) {
        for (; held != 0; --held) consumer.free_next();
      }
      uint64_t digest = taken + 1;
      for (const uint32_t count : next) digest = digest << 8 | count;
      settle((digest << 8 | held) << 8 | sleeper.wakes_seen << 1 | sleeper.has_told);
    }
    expect(consumer.next().data == nullptr, "nothing arrives twice");
  }

  struct Sleeper {
    uint64_t wakes_seen = 0;
    bool has_told = false;
  };
  Consumer::Message sleep_until_next(Sleeper& sleeper) {
    for (;;) {
      const Consumer::Message message = consumer_->next();
      if (message.data != nullptr) return message;
      if (shape_.tells_late && !sleeper.has_told) tell_senders(sleeper);
      if (!consumer_->await()) continue;
      uint64_t wakes = 0;
      retry([&] { return (wakes = wakes_.load(std::memory_order_acquire)) != sleeper.wakes_seen; });
      sleeper.wakes_seen = wakes;
    }
  }

  /// As shm.cc does.
  void tell_senders(Sleeper& sleeper) {
    control_.sleeps.store(1, std::memory_order_relaxed);
    for (uint32_t sender = 0; sender < shape_.senders.size(); ++sender) {
      pass_barrier(&control_.sleeps, sender);
    }
    sleeper.has_told = true;
  }

  /// Looks like a word of the ring wherever it may be mistaken for one: of the next lap, at that.
  uint64_t content(uint32_t sender, uint32_t number, uint32_t word) const {
    return uint64_t{8} << 32 | uint64_t{sender} << 28 | uint64_t{word} << 20 |
           uint64_t{number} << 16 | shm::Word::make(2, 0, 0);
  }
  shm::BasicRingView<ModelMemory> view() { return {&control_, slots_, room_[0], shape_.slots}; }

  const RingShape shape_;
  shm::BasicRingControl<ModelMemory> control_;
  shm::BasicSlot<ModelMemory> slots_[kSlotsMax];
  Atomic<uint64_t> wakes_;  ///< of the receiver
  alignas(shm::kSlotBytes) std::byte room_[kSlotsMax][shm::kSlotBytes];
  std::optional<Producer> producers_[kThreadsMax];
  std::optional<Consumer> consumer_;
};

}  // namespace pinwire::model
