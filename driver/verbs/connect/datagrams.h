// An unreliable datagram queue pair (IBA 10.2.2): greetings between ranks that have no connection.
// The sender repeats datagrams that it cannot take, or that the network loses.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "driver/verbs/device/buffer_pool.h"
#include "driver/verbs/device/device.h"
#include "driver/verbs/lane/needs.h"
#include "driver/verbs/peer/address.h"
#include "driver/verbs/peer/queue_pair.h"

namespace pinwire::verbs {

class Datagrams {
 public:
  static constexpr uint32_t kBytesMax = 64;

  /// Those of another `key` are dropped by the device. False: it has no datagrams at all.
  Result<bool> open(const Device& device, uint32_t key);
  void close() noexcept;
  bool is_open() const noexcept { return static_cast<bool>(queue_); }
  uint32_t number() const noexcept { return queue_->qp_num; }
  int fd() const noexcept { return channel_->fd; }

  /// May be lost; false: it did not even leave.
  bool send(const Place& to, std::span<const std::byte> bytes) noexcept;
  struct Arrival {
    uint32_t from_queue;
    std::span<const std::byte> bytes;  ///< until the next call
  };
  std::optional<Arrival> receive() noexcept;
  /// Has the next arrival make fd() readable; poll once more before sleeping.
  void arm() noexcept;

 private:
  static constexpr uint32_t kSends = kDepthMin;
  static constexpr uint32_t kReceivesMax = 512;
  static constexpr uint32_t kHeaderBytes = 40;  ///< of the network, before the data (IBA 11.4.1.2)
  static constexpr uint32_t kBufferBytes = 128;
  static_assert(kHeaderBytes + kBytesMax <= kBufferBytes);

  Status ready(uint32_t key);
  void post_receive(uint32_t buffer) noexcept;

  const Device* device_ = nullptr;
  uint32_t key_ = 0;
  Owned<ibv_comp_channel, ibv_destroy_comp_channel> channel_;
  Owned<ibv_cq, ibv_destroy_cq> completions_;
  BufferPool buffers_;  ///< sends take the first kSends, receives the others
  std::vector<Owned<ibv_ah, ibv_destroy_ah>> handles_;  ///< of the sends under way
  QueuePair queue_;
  uint32_t receives_ = 0;
  std::vector<uint32_t> free_sends_;
  std::optional<uint32_t> held_;  ///< the receive buffer that was handed out last
};

}  // namespace pinwire::verbs
