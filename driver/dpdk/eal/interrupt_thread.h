// EAL's interrupt thread runs drivers' handlers: memif's takes a connection apart when the peer
// leaves. Nothing in DPDK keeps it from doing so while this process closes the same device, or
// takes back the memory that the handler works on: two ranks that leave together crash now and
// then.
#pragma once

#include <memory>

namespace pinwire {

/// While one exists EAL's interrupt thread is inside a handler of ours, and so in nobody else's,
/// and starts none. Handlers can be unregistered meanwhile. Not for what waits for an interrupt, as
/// some NICs' commands do. EAL runs; one at a time. Where EAL refuses, or its thread does not come
/// within a second, nothing is held: is_held().
class InterruptsHeld {
 public:
  InterruptsHeld() noexcept;
  /// The thread goes on.
  ~InterruptsHeld();
  InterruptsHeld(const InterruptsHeld&) = delete;
  InterruptsHeld& operator=(const InterruptsHeld&) = delete;

  bool is_held() const noexcept { return hold_ != nullptr; }
  /// The thread stays where it is until the process ends; this object holds nothing any more.
  void keep() noexcept;

 private:
  struct Hold;
  std::unique_ptr<Hold> hold_;
};

}  // namespace pinwire
