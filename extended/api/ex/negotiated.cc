// gasnetex.h: the C entry points of active messages with negotiated payloads (GX-111 to GX-122).
#include "am/send/negotiated.h"

#include <algorithm>
#include <cstring>

#include "am/handlers/handlers.h"
#include "am/long/send_long.h"
#include "am/message/call.h"
#include "am/message/done_count.h"
#include "am/send/send.h"
#include "core/base/breach.h"
#include "core/base/memory/reserve.h"
#include "core/base/threads/thread_end.h"
#include "core/engine/client_usage.h"
#include "extended/api/ex/local_completion.h"
#include "extended/api/ex/message.h"
#include "extended/checks/canary.h"
#include "extended/checks/usage.h"
#include "extended/segments/remote.h"
#include "extended/state/handed_on.h"

using namespace pinwire;

namespace {

struct Kind {
  bool is_reply, is_long;
  const char* prepare;
  const char* commit;
  const char* cancel;
  Event event;
};
constexpr Kind kKinds[] = {
    {false, false, "gex_AM_PrepareRequestMedium", "gex_AM_CommitRequestMedium",
     "gex_AM_CancelRequestMedium", Event::kRequestMedium},
    {true, false, "gex_AM_PrepareReplyMedium", "gex_AM_CommitReplyMedium",
     "gex_AM_CancelReplyMedium", Event::kReplyMedium},
    {false, true, "gex_AM_PrepareRequestLong", "gex_AM_CommitRequestLong",
     "gex_AM_CancelRequestLong", Event::kRequestLong},
    {true, true, "gex_AM_PrepareReplyLong", "gex_AM_CommitReplyLong", "gex_AM_CancelReplyLong",
     Event::kReplyLong},
};

struct Descriptor : pinwire_srcdesc {
  const Kind* kind = nullptr;  ///< nullptr: nothing is prepared
  Target to = 0;
  uint32_t from_endpoint = 0;
  gex_Token_t token = nullptr;
  uint32_t argc = 0;
  void* dest = nullptr;
  gex_Event_t* lc_opt = nullptr;
  bool is_clients = false;  ///< the memory
  Room room;
};

/// A thread's descriptors: one for a request, and one for the reply of a handler that runs
/// meanwhile.
constinit thread_local Descriptor descriptors[2]{};

/// A thread writes its payloads here where no driver lends memory; later threads take it over.
struct Payloads {
  alignas(64) std::byte of[2][PINWIRE_NP_LONG_BYTES];
  Payloads* next_left;  ///< of those whose threads have ended
};
constinit thread_local Payloads* payloads = nullptr;
constinit HandedOn<Payloads> left;

void hand_on(void* what) noexcept {
  const LibraryCall inside;
  payloads = nullptr;
  left.give(*static_cast<Payloads*>(what));
}

[[gnu::noinline]] Payloads& adopt_payloads() noexcept {
  static const ThreadEnd end(hand_on);
  payloads = left.take([](const Payloads&) { return true; });
  if (payloads == nullptr) payloads = reserve_table<Payloads>(1, "payloads of a new thread");
  end.arm(payloads);
  return *payloads;
}
std::byte* own_payload(bool is_reply) noexcept {
  return (payloads != nullptr ? *payloads : adopt_payloads()).of[is_reply];
}

size_t bytes_max(const Kind& kind, bool is_clients) noexcept {
  if (!kind.is_long) return pinwire_max_medium;
  const size_t bytes = kind.is_reply ? pinwire_max_long_reply : pinwire_max_long;
  return is_clients ? bytes : std::min(bytes, PINWIRE_NP_LONG_BYTES);
}

void note_prepared(const Kind& kind, const char* call) noexcept {
  if constexpr (kUsageChecks) client_usage.prepared[kind.is_reply] = call;
}

struct Wish {
  const void* client_buf;
  size_t least, most;
  void* dest;
  gex_Event_t* lc_opt;
  gex_Flags_t flags;
  unsigned numargs;
};

void check_wish(const Kind& kind, const Wish& wish) noexcept {
  const size_t limit = bytes_max(kind, wish.client_buf != nullptr);
  if (wish.least > limit || wish.most < wish.least) {
    breach("GX-113", "%s of %zu to %zu bytes; at least may be asked for up to %zu", kind.prepare,
           wish.least, wish.most, limit);
  }
  if (wish.numargs > gex_AM_MaxArgs()) {
    breach("GX-102", "%s for %u arguments; there are at most %u", kind.prepare, wish.numargs,
           gex_AM_MaxArgs());
  }
  if ((wish.client_buf == nullptr) != (wish.lc_opt == nullptr)) {
    breach("GX-114", "%s wants an lc_opt where client_buf is not NULL, and else NULL",
           kind.prepare);
  }
}

gex_AM_SrcDesc_t prepare(const Kind& kind, Target to, uint32_t from_endpoint, gex_Token_t token,
                         const Wish& wish) noexcept {
  Descriptor& d = descriptors[kind.is_reply];
  if (d.kind != nullptr) {
    breach("GX-119", "%s before the Commit or Cancel of this thread's %s: they do not nest",
           kind.prepare, d.kind->prepare);
  }
  check_wish(kind, wish);
  d.is_clients = wish.client_buf != nullptr;
  const size_t bytes = std::min(wish.most, bytes_max(kind, d.is_clients));
  if (d.is_clients) {
    d.room = {static_cast<std::byte*>(const_cast<void*>(wish.client_buf)), bytes, {}, 0};
  } else {
    std::byte* const own = own_payload(kind.is_reply);
    const bool tries = (wish.flags & GEX_FLAG_IMMEDIATE) != 0;
    const Patience patience = tries ? Patience::kTries : Patience::kWaits;
    d.room =
        kind.is_long ? Room{own, bytes, {}, 0} : room_for_medium(token, to, bytes, own, patience);
    if (d.room.address == nullptr) return GEX_AM_SRCDESC_NO_OP;
    if constexpr (kUsageChecks) fill_canary(d.room.address, bytes);
  }
  dcheck(d.room.bytes >= bytes, "less room than is told of", d.room.bytes, bytes);
  d.addr = d.room.address;
  d.size = bytes;
  d.kind = &kind;
  d.to = to;
  d.from_endpoint = from_endpoint;
  d.token = token;
  d.argc = wish.numargs;
  d.dest = wish.dest;
  d.lc_opt = wish.lc_opt;
  note_prepared(kind, kind.prepare);
  return &d;
}

gex_AM_SrcDesc_t prepare_request(const Kind& kind, gex_TM_t tm, gex_Rank_t rank,
                                 const Wish& wish) noexcept {
  const ClientCall inside(kind.prepare);
  const Target to = target_in(kind.prepare, tm, rank);
  return prepare(kind, to, call_by(tm, 0, 0, 0, nullptr).from_endpoint, nullptr, wish);
}

gex_AM_SrcDesc_t prepare_reply(const Kind& kind, gex_Token_t token, const Wish& wish) noexcept {
  reply_call(kind.prepare, token, kClientHandlersFirst);
  return prepare(kind, target_of(token->source, token->source_endpoint), 0, token, wish);
}

/// The calling thread's, which was prepared for this.
Descriptor& prepared(const char* call, const Kind& kind, gex_AM_SrcDesc_t sd) noexcept {
  Descriptor& d = descriptors[kind.is_reply];
  if (sd != &d) {
    breach("GX-119",
           "%s of what another thread prepared, of the other kind of message, or of nothing", call);
  }
  if (d.kind == nullptr) breach("GX-119", "%s of what was consumed before", call);
  if (d.kind != &kind) breach("GX-117", "%s of what %s prepared", call, d.kind->prepare);
  return d;
}

/// Commit and Cancel are called where requests are, or where replies are; what this thread has
/// prepared is in the way of all calls but these.
void check_place(const Kind& kind, const char* call, const Descriptor& d,
                 unsigned handler) noexcept {
  if constexpr (kUsageChecks) {
    note_prepared(kind, nullptr);
    if (kind.is_reply) {
      check_reply(call, d.token, handler);
    } else {
      check_request(call, handler);
    }
    note_prepared(kind, kind.prepare);
  }
}

void check_commit(const Kind& kind, const Descriptor& d, size_t nbytes, void* dest_addr,
                  gex_Flags_t flags, int argc) noexcept {
  if (static_cast<uint32_t>(argc) != d.argc) {
    breach("GX-117", "%s with %d arguments of what was prepared for %u", kind.commit, argc, d.argc);
  }
  if (nbytes > d.size) {
    breach("GX-117", "%s of %zu bytes where %zu were granted", kind.commit, nbytes, d.size);
  }
  if (kind.is_long && d.dest != nullptr && dest_addr != d.dest) {
    breach("GX-115", "%s to %p, prepared for %p", kind.commit, dest_addr, d.dest);
  }
  if ((flags & ~gex_Flags_t{GEX_FLAG_IMMEDIATE}) != 0) {
    breach("GX-117", "%s with flags 0x%x; it takes GEX_FLAG_IMMEDIATE alone", kind.commit, flags);
  }
  if constexpr (kUsageChecks) {
    if (kind.is_long) check_range(kind.commit, d.to, dest_addr, nbytes);
    if (!d.is_clients) check_canary(kind.commit, d.room.address, nbytes);
  }
}

/// Whether it was sent, as `d` has it, which may be another's from here on: handlers run.
Sent send(const Descriptor& d, const AmCall& call, size_t nbytes, void* dest_addr,
          DoneCount* local) noexcept {
  const bool is_reply = d.kind->is_reply;
  const void* from = d.room.address;
  const auto whole = [](bool is_sent) { return is_sent ? Sent::kAll : Sent::kNothing; };
  if (d.kind->is_long && is_reply)
    return whole(reply_long(*d.token, call, from, nbytes, dest_addr));
  if (d.kind->is_long) return request_long(d.to, call, from, nbytes, dest_addr, false, local);
  if (d.is_clients) {
    return whole(is_reply ? reply_medium(*d.token, call, from, nbytes)
                          : request_medium(d.to, call, from, nbytes));
  }
  return whole(is_reply ? reply_medium_in(*d.token, call, d.room, nbytes)
                        : request_medium_in(d.to, call, d.room, nbytes));
}

int commit(const Kind& kind, Descriptor& d, const AmCall& call, size_t nbytes, void* dest_addr,
           gex_Flags_t flags) noexcept {
  gex_Event_t* const lc_opt = d.is_clients ? d.lc_opt : GEX_EVENT_NOW;
  LocalCompletion local(kind.commit, lc_opt, kind.is_reply ? Within::kReply : Within::kRequest);
  dcheck(d.kind == &kind, "a message of another kind is committed", nbytes);
  dcheck(nbytes <= d.room.bytes, "a message ends after its room", nbytes, d.room.bytes);
  const Descriptor consumed = d;
  d.kind = nullptr;
  note_prepared(kind, nullptr);
  const int refused =
      sent(flags, kind.event, rank_of(d.to), nbytes, call.handler, consumed.room.address,
           [&] { return local.settle(send(consumed, call, nbytes, dest_addr, local.count())); });
  if (refused != 0) {
    d = consumed;
    note_prepared(kind, kind.prepare);
  }
  return refused;
}

}  // namespace

extern "C" {

gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                             size_t least_payload, size_t most_payload,
                                             gex_Event_t* lc_opt, gex_Flags_t flags,
                                             unsigned int numargs) {
  return prepare_request(
      kKinds[PINWIRE_NP_REQUEST_MEDIUM], tm, rank,
      {client_buf, least_payload, most_payload, nullptr, lc_opt, flags, numargs});
}
gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void* client_buf,
                                           size_t least_payload, size_t most_payload,
                                           gex_Event_t* lc_opt, gex_Flags_t flags,
                                           unsigned int numargs) {
  return prepare_reply(kKinds[PINWIRE_NP_REPLY_MEDIUM], token,
                       {client_buf, least_payload, most_payload, nullptr, lc_opt, flags, numargs});
}
gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                           size_t least_payload, size_t most_payload,
                                           void* dest_addr, gex_Event_t* lc_opt, gex_Flags_t flags,
                                           unsigned int numargs) {
  return prepare_request(
      kKinds[PINWIRE_NP_REQUEST_LONG], tm, rank,
      {client_buf, least_payload, most_payload, dest_addr, lc_opt, flags, numargs});
}
gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void* client_buf,
                                         size_t least_payload, size_t most_payload, void* dest_addr,
                                         gex_Event_t* lc_opt, gex_Flags_t flags,
                                         unsigned int numargs) {
  return prepare_reply(
      kKinds[PINWIRE_NP_REPLY_LONG], token,
      {client_buf, least_payload, most_payload, dest_addr, lc_opt, flags, numargs});
}

int pinwire_ex_commit(int kind_index, gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                      void* dest_addr, gex_Flags_t commit_flags, int argc,
                      const gex_AM_Arg_t* args) {
  const LibraryCall inside;
  const Kind& kind = kKinds[kind_index];
  Descriptor& d = prepared(kind.commit, kind, sd);
  check_place(kind, kind.commit, d, handler);
  if (kind.is_long && !kind.is_reply && nbytes != 0 && engine.routes[d.to].known_bytes() == 0) {
    learn_segment(d.to);
  }
  check_commit(kind, d, nbytes, dest_addr, commit_flags, argc);
  const AmCall call = with(commit_flags, call_of(handler, argc, args, d.from_endpoint));
  return commit(kind, d, call, nbytes, dest_addr, commit_flags);
}

int pinwire_ex_cancel(int kind_index, gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
  const LibraryCall inside;
  const Kind& kind = kKinds[kind_index];
  Descriptor& d = prepared(kind.cancel, kind, sd);
  check_place(kind, kind.cancel, d, kClientHandlersFirst);
  if (flags != 0) breach("GX-118", "%s with flags 0x%x; it takes none", kind.cancel, flags);
  leave_room(d.token, d.to, d.room);
  d.kind = nullptr;
  note_prepared(kind, nullptr);
  return 0;
}

}  // extern "C"
