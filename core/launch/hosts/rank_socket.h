// The socket between this process and one rank of its host. A rank is not trusted: what it must not
// send, or sends too often, ends the reading of its socket.
#pragma once

#include <functional>

#include "core/launch/hosts/host.h"
#include "core/launch/hosts/outbox.h"
#include "core/launch/loop/fd.h"
#include "core/launch/loop/loop.h"

namespace pinwire::launch {

class RankSocket {
 public:
  /// A frame that the rank may send, or kHungUp or kBroken, once, after which nothing comes.
  using Heard = std::function<void(const FrameHeader& header, Bytes chunk)>;
  /// `fd`: this process's end. Turns of the loop read it and write to it.
  RankSocket(Loop& loop, Rank rank, Fd fd, Heard heard);
  RankSocket(const RankSocket&) = delete;
  RankSocket& operator=(const RankSocket&) = delete;
  /// Reads all that is there now.
  void read();
  /// The message leaves as soon as the rank reads what came before.
  void send(const FrameHeader& header, const SharedBytes& message);

 private:
  bool may_come(const FrameHeader& header);
  void hang_up();
  void give_up();
  void flush();

  const Rank rank_;
  const Heard heard_;
  Fd fd_;  // none: the rank has hung up
  Outbox outbox_;
  Loop::Watch watch_;
  bool is_broken_ = false;     // the rank sent what it must not send
  uint32_t other_frames_ = 0;  // that it sent, gathers apart
};

}  // namespace pinwire::launch
