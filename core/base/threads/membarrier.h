// membarrier(2): one thread has others pass a full memory barrier, so that they need none of their
// own on their hot paths. All return false where the kernel cannot.
#pragma once

namespace pinwire {

/// Before the first pass_thread_barriers(), which returns false without it. The first call may take
/// seconds once the process has a second thread; others return at once.
bool register_thread_barriers() noexcept;
/// Every thread of this process passes a full barrier.
bool pass_thread_barriers() noexcept;

/// Without it no pass_process_barriers() of another process reaches this one.
bool register_process_barriers() noexcept;
/// Every process of the host that registered passes a full barrier. It sends each later message
/// knowing what this process stored before the call.
bool pass_process_barriers() noexcept;

}  // namespace pinwire
