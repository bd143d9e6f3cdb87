// The engine moves work from the queues of one queue pair to the memory and the queues of another.
// All of it under the lock.
#pragma once

#include <vector>

#include "tests/support/verbs/world.h"

namespace pinwire::fake_verbs {

/// scheduler.cc
void tick(World& world);
bool is_quiet(const World& world);
/// Reads and atomics that were executed and not yet answered.
uint32_t reads_under_way(const Qp& qp);

/// failure.cc
/// To the error state: what is queued is flushed at the next tick.
void to_error(World& world, Qp& qp);
void flush(World& world, Qp& qp);
/// Forgets all work, also completions that nobody has polled yet, as drivers do on reset.
void reset_queues(World& world, Qp& qp);

/// events.cc
void raise(Context& context, ibv_event_type type, int port);
void raise(ibv_event_type type, Qp& qp);
void raise(ibv_event_type type, Cq& cq);
void raise(ibv_event_type type, Srq& srq);

/// completion.cc
void complete_send(World& world, Qp& qp, const SendWqe& wqe, ibv_wc_status status);
/// `wc` brings what only its maker knows; the rest is filled in.
void complete_receive(World& world, Qp& qp, const RecvWqe& wqe, ibv_wc wc, bool solicited);

/// route.cc: where an address leads, or nullptr.
Qp* queue_pair_at(World& world, Hca& from, const ibv_ah_attr& ah, uint32_t qp_num);
/// The other end of a connection, if it is there, listens and agrees on the packet numbers.
Qp* connected_peer(World& world, Qp& qp);
bool are_partners(const Qp& a, const Qp& b);
uint32_t packets_of(const Qp& qp, uint32_t bytes);

/// Could a packet be addressed so from this device at all?
bool is_address_valid(Hca& hca, const ibv_ah_attr& ah);

/// How an attempt to execute a work request at the peer ended.
enum class Outcome : uint8_t { kDone, kLost, kNotReady };
struct Attempt {
  Outcome outcome;
  ibv_wc_status status = IBV_WC_SUCCESS;  ///< of kDone
};
/// requester.cc
Attempt attempt(World& world, Qp& qp, SendWqe& wqe);
/// The data of a send or write, as it is in memory now.
ibv_wc_status gather(const Qp& qp, const SendWqe& wqe, std::vector<std::byte>& data);
/// responder.cc
Attempt respond(World& world, Qp& from, Qp& to, SendWqe& wqe, const std::vector<std::byte>& data);
/// datagram.cc
Attempt send_datagram(World& world, Qp& qp, SendWqe& wqe, const std::vector<std::byte>& data);

/// receive.cc
/// Takes the next receive buffer; false if there is none.
bool take_receive(World& world, Qp& qp, RecvWqe& out);
/// Those that are still posted.
void forget_receives(World& world, const Hca& hca, RecvQueue& queue);
/// Writes to its places; what went wrong, or success.
ibv_wc_status scatter(const Qp& qp, const std::vector<ibv_sge>& places, const std::byte* data,
                      uint64_t bytes);

/// memory.cc
/// The memory behind a local key, or nullptr if the key, bounds, domain or rights do not fit.
std::byte* local_memory(const Qp& qp, const ibv_sge& place, int access);
std::byte* remote_memory(const Qp& at, uint64_t address, uint64_t bytes, uint32_t key, int access);
/// Copies as a device does: ascending, each aligned word at once, so that memory which the
/// program watches may be its goal.
void device_copy(std::byte* to, const std::byte* from, uint64_t bytes);

}  // namespace pinwire::fake_verbs
