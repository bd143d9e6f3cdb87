// The thread that keeps a rank alive in the eyes of its peers while its client computes.
//
// A NIC of hardware acknowledges what arrives without the CPU. Over a driver that does so in recv()
// (dpdk, on a network that loses frames) a client that does not call the library for longer than
// GASNET_PEER_TIMEOUT acknowledges nothing, and its peers would take the rank for dead. This thread
// sleeps for a fraction of that time, and then drives each lane that no client thread has used
// meanwhile: frames are acknowledged and repeated, puts and gets of peers are carried out, messages
// stay where they are. It never runs a handler, and never waits for a lane.
//
// It exists only in GASNET_DISPATCH=poll, as the dispatcher of the other modes does the same, and
// only where a driver says recv_gap_ns_max. A handler that computes keeps its lane, so that the
// thread cannot help a rank whose handler runs for longer than that time.
#pragma once

#include <cstdint>

#include "core/base/result.h"

namespace pinwire {

/// After the drivers are connected, before any message. Starts no thread where no driver asks for
/// one.
Status start_heartbeat();
/// Returns when the thread is in no lane any more. At the end of a process, by any thread.
void stop_heartbeat() noexcept;

/// One beat, by a thread that is none of the client's.
void beat_once() noexcept;

/// The sleep between two beats, in us: 0 if no driver asks for beats. A client that leaves just
/// after a beat has been in its lanes is noticed by the beat after the next.
uint32_t beat_period_us() noexcept;

}  // namespace pinwire
