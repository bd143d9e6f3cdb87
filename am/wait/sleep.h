// Waits that sleep in the kernel (gasnet_set_waitmode: BLOCK at once, SPINBLOCK after a while):
// what arrives on a lane wakes them, and so does another thread that has found something
// (am/wake/doorbell.h).
//
// Any number of threads may arm and sleep over the same lanes, the dispatcher's beside them
// (am/interrupts/dispatcher.h), in every dispatch mode. A thread that arms a lane may take the
// event that was to wake another thread: if it finds messages there it rings the others, otherwise
// there is nothing to wake them for. In nicproc, where no client thread polls, a client sleeps over
// its doorbell alone.
//
// A sleep lasts for no more than sleep_us_max, for the drivers' health. Where nothing would wake it
// it is a nap, from kNapMinUs on and each time twice as long, up to kNapMaxUs: a driver has no
// event fd (memif, af_packet), its timers run (dpdk, until all is acknowledged; events do wake it),
// somebody else uses a lane, or room is waited for that a peer frees without a word. A wait in
// GASNET_BLOCKUNTIL naps likewise, for up to look_us_max: C1-161 has handlers alone end such a
// wait, but clients wait for words that a peer's put writes, where no code of this rank may see it.
#pragma once

#include <cstdint>

namespace pinwire {

/// A test that must not be woken by time has another.
inline constinit uint32_t sleep_us_max = 100'000;

/// The longest nap of a wait that nobody announces the end of.
inline constexpr uint32_t kNapMaxUs = 1000;
/// The longest nap of a wait for a condition of the client's own (GASNET_LOOK_US); 0: such a wait
/// sleeps as those do whose end is announced.
inline constinit uint32_t look_us_max = kNapMaxUs;

/// One turn of a wait of a client thread outside handlers that polled and found nothing. The first
/// turn after a change only looks: the condition must be tested between that and the sleep.
/// `nap_us_max`: a nap, and no longer; 0: the end of the wait makes an event or runs a handler.
void rest(uint32_t nap_us_max) noexcept;

}  // namespace pinwire
