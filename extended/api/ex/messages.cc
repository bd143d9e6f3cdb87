// gasnetex.h: the C entry points of active messages (GX-085 to GX-110).
#include <vector>

#include "am/handlers/handlers.h"
#include "am/long/send_long.h"
#include "am/message/call.h"
#include "am/send/send.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"
#include "extended/api/ex/local_completion.h"
#include "extended/api/ex/message.h"
#include "extended/checks/usage.h"
#include "extended/segments/remote.h"
#include "extended/state/objects.h"

using namespace pinwire;

namespace {

/// One category and one kind of message, both known (GX-086).
bool are_handler_flags(gex_Flags_t flags) noexcept {
  const gex_Flags_t category = flags & (GEX_FLAG_AM_SHORT | GEX_FLAG_AM_MEDLONG);
  const gex_Flags_t kind = flags & GEX_FLAG_AM_REQREP;
  const bool is_one = category == GEX_FLAG_AM_SHORT || category == GEX_FLAG_AM_MEDIUM ||
                      category == GEX_FLAG_AM_LONG || category == GEX_FLAG_AM_MEDLONG;
  return is_one && kind != 0 && (flags & ~(category | kind)) == 0;
}

HandlerShape shape_of(const gex_AM_Entry_t& entry) noexcept {
  const gex_Flags_t flags = entry.gex_flags;
  HandlerShape shape{};
  shape.is_known = true;
  shape.takes_short = (flags & GEX_FLAG_AM_SHORT) != 0;
  shape.takes_medium = (flags & GEX_FLAG_AM_MEDIUM) != 0;
  shape.takes_long = (flags & GEX_FLAG_AM_LONG) != 0;
  shape.takes_requests = (flags & GEX_FLAG_AM_REQUEST) != 0;
  shape.takes_replies = (flags & GEX_FLAG_AM_REPLY) != 0;
  shape.argc = static_cast<uint8_t>(entry.gex_nargs);
  return shape;
}

}  // namespace

extern "C" {

int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t* table, size_t numentries) {
  const RareCall inside;
  std::vector<HandlerEntry> entries;
  for (size_t i = 0; i < numentries; ++i) {
    if (!are_handler_flags(table[i].gex_flags) || table[i].gex_nargs > gex_AM_MaxArgs()) {
      return api_error(GASNET_ERR_BAD_ARG,
                       "gex_EP_RegisterHandlers: entry %zu has flags 0x%x and %u arguments; it "
                       "takes one of GEX_FLAG_AM_{SHORT,MEDIUM,LONG,MEDLONG}, one of "
                       "GEX_FLAG_AM_{REQUEST,REPLY,REQREP} and at most %u arguments (GX-086)",
                       i, table[i].gex_flags, table[i].gex_nargs, gex_AM_MaxArgs());
    }
    entries.push_back({table[i].gex_index, reinterpret_cast<HandlerFunction>(table[i].gex_fnptr)});
  }
  if (const Status chosen = choose_indices(ep->index, entries.data(), entries.size()); !chosen) {
    return api_error(GASNET_ERR_BAD_ARG, "gex_EP_RegisterHandlers: %s", chosen.sentence().c_str());
  }
  for (size_t i = 0; i < numentries; ++i) {
    table[i].gex_index = entries[i].index;
    ep->handlers[entries[i].index] = table[i];
    handler_shapes[function_index(ep->index, entries[i].index)] = shape_of(table[i]);
    trace_line('O', "handler %u registered", table[i].gex_index);
  }
  install_client(ep->index, entries.data(), entries.size());
  return GASNET_OK;
}

gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t* info, gex_TI_t) {
  info->gex_srcrank = token->source;
  info->gex_ep = objects.endpoints[token->endpoint];
  const bool has_own = info->gex_ep->handlers[token->handler].gex_fnptr != nullptr;
  info->gex_entry = &(has_own ? info->gex_ep : objects.endpoint)->handlers[token->handler];
  info->gex_is_req = token->is_request;
  info->gex_is_long = token->is_long;
  return GEX_TI_ALL;
}

int pinwire_ex_request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                             gex_Flags_t flags, int argc, const gex_AM_Arg_t* args) {
  const ClientCall inside("gex_AM_RequestShort", handler);
  const Target dest = target_in("gex_AM_RequestShort", tm, rank);
  return sent(flags, Event::kRequestShort, rank_of(dest), 0, handler, nullptr,
              [&] { return request_short(dest, call_by(tm, flags, handler, argc, args)); });
}

int pinwire_ex_request_medium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                              const void* source, size_t nbytes, gex_Event_t* lc_opt,
                              gex_Flags_t flags, int argc, const gex_AM_Arg_t* args) {
  const ClientCall inside("gex_AM_RequestMedium", handler);
  const Target dest = target_in("gex_AM_RequestMedium", tm, rank);
  check_size("gex_AM_RequestMedium", nbytes, pinwire_max_medium);
  LocalCompletion local("gex_AM_RequestMedium", lc_opt, Within::kRequest);
  return sent(flags, Event::kRequestMedium, rank_of(dest), nbytes, handler, source, [&] {
    const AmCall call = call_by(tm, flags, handler, argc, args);
    return local.settle(request_medium(dest, call, source, nbytes));
  });
}

int pinwire_ex_request_long(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                            const void* source, size_t nbytes, void* dest_addr, gex_Event_t* lc_opt,
                            gex_Flags_t flags, int argc, const gex_AM_Arg_t* args) {
  const ClientCall inside("gex_AM_RequestLong", handler);
  const Target dest = target_in("gex_AM_RequestLong", tm, rank);
  check_size("gex_AM_RequestLong", nbytes, pinwire_max_long);
  if (nbytes != 0 && engine.routes[dest].known_bytes() == 0) learn_segment(dest);
  if constexpr (kUsageChecks) check_range("gex_AM_RequestLong", dest, dest_addr, nbytes);
  LocalCompletion local("gex_AM_RequestLong", lc_opt, Within::kRequest);
  return sent(flags, Event::kRequestLong, rank_of(dest), nbytes, handler, source, [&] {
    const AmCall call = call_by(tm, flags, handler, argc, args);
    return local.settle(request_long(dest, call, source, nbytes, dest_addr, false, local.count()));
  });
}

int pinwire_ex_reply_short(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags, int argc,
                           const gex_AM_Arg_t* args) {
  reply_call("gex_AM_ReplyShort", token, handler);
  return sent(flags, Event::kReplyShort, token->source, 0, handler, nullptr,
              [&] { return reply_short(*token, with(flags, call_of(handler, argc, args))); });
}

int pinwire_ex_reply_medium(gex_Token_t token, gex_AM_Index_t handler, const void* source,
                            size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags, int argc,
                            const gex_AM_Arg_t* args) {
  reply_call("gex_AM_ReplyMedium", token, handler);
  check_size("gex_AM_ReplyMedium", nbytes, pinwire_max_medium);
  LocalCompletion local("gex_AM_ReplyMedium", lc_opt, Within::kReply);
  return sent(flags, Event::kReplyMedium, token->source, nbytes, handler, source, [&] {
    const AmCall call = with(flags, call_of(handler, argc, args));
    return local.settle(reply_medium(*token, call, source, nbytes));
  });
}

int pinwire_ex_reply_long(gex_Token_t token, gex_AM_Index_t handler, const void* source,
                          size_t nbytes, void* dest_addr, gex_Event_t* lc_opt, gex_Flags_t flags,
                          int argc, const gex_AM_Arg_t* args) {
  reply_call("gex_AM_ReplyLong", token, handler);
  check_size("gex_AM_ReplyLong", nbytes, pinwire_max_long_reply);
  if constexpr (kUsageChecks) {
    check_range("gex_AM_ReplyLong", target_of(token->source, token->source_endpoint), dest_addr,
                nbytes);
  }
  LocalCompletion local("gex_AM_ReplyLong", lc_opt, Within::kReply);
  return sent(flags, Event::kReplyLong, token->source, nbytes, handler, source, [&] {
    const AmCall call = with(flags, call_of(handler, argc, args));
    return local.settle(reply_long(*token, call, source, nbytes, dest_addr));
  });
}

}  // extern "C"
