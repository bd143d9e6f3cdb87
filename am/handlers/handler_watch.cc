#include "am/handlers/handler_watch.h"

#include <cstdio>

#include "am/handlers/handlers.h"

namespace pinwire {
namespace {

/// It may block in gasnet_hsl_lock alone, and not for long (C1-171, C1-185).
void warn_if_long(const RunningHandler& handler) noexcept {
  const int64_t lasted_ns = clock_ns(CLOCK_MONOTONIC) - handler.since_ns;
  if (hold_limit_ns == 0 || lasted_ns <= hold_limit_ns) return;
  const int64_t computed_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - handler.computed_ns;
  warn_of_breach(
      "C1-294",
      "%s ran for %.3f s, of which it computed %.3f s: handlers return soon, and block in "
      "gasnet_hsl_lock alone (GASNET_HOLD_LIMIT)",
      HandlerText(handler).text(), 1e-9 * static_cast<double>(lasted_ns),
      1e-9 * static_cast<double>(computed_ns));
}

}  // namespace

void check_shape(const pinwire_token& token, Category category, uint32_t argc) noexcept {
  const HandlerShape& shape = handler_shapes[function_index(token.endpoint, token.handler)];
  if (!shape.is_known) return;
  const bool takes_category = category == Category::kShort    ? shape.takes_short
                              : category == Category::kMedium ? shape.takes_medium
                                                              : shape.takes_long;
  const bool takes_kind = token.is_request ? shape.takes_requests : shape.takes_replies;
  if (takes_category && takes_kind && argc == shape.argc) return;
  breach(
      "GX-086",
      "rank %u sent a %s %s with %u arguments to handler %u, which gex_EP_RegisterHandlers knows "
      "for%s%s%s%s%s with %u",
      token.source,
      category == Category::kShort    ? "Short"
      : category == Category::kMedium ? "Medium"
                                      : "Long",
      token.is_request ? "request" : "reply", argc, token.handler,
      shape.takes_short ? " Short" : "", shape.takes_medium ? " Medium" : "",
      shape.takes_long ? " Long" : "", shape.takes_requests ? " requests" : "",
      shape.takes_replies ? " replies" : "", shape.argc);
}

HandlerText::HandlerText(const RunningHandler& handler) noexcept {
  std::snprintf(text_, sizeof text_, "handler %u, of a %s from rank %u,", handler.index,
                handler.is_request ? "request" : "reply", handler.source);
}

WatchedHandler::WatchedHandler(uint8_t index, const pinwire_token& token, bool must_reply) noexcept
    : running_{index,
               token.source,
               token.is_request,
               must_reply,
               &token,
               clock_ns(CLOCK_MONOTONIC),
               clock_ns(CLOCK_THREAD_CPUTIME_ID)},
      before_(client_usage.handler),
      locks_before_(this_thread.hsls_held) {
  client_usage.handler = &running_;
}

WatchedHandler::~WatchedHandler() {
  client_usage.handler = before_;
  const uint32_t held = this_thread.hsls_held;
  if (held > locks_before_) {
    breach("C1-289", "%s returned while it holds a handler-safe lock, locked at %s",
           HandlerText(running_).text(),
           PlaceText(client_usage.last_lock(held).opened.place).text());
  }
  if (const char* open = client_usage.prepared[1]) {
    breach("GX-119", "%s returned before the Commit or Cancel of its %s",
           HandlerText(running_).text(), open);
  }
  if (running_.must_reply && !running_.token->replied) {
    breach("C1-292",
           "%s returned without a reply to a gasnet_AMRequestLongAsync, whose sender may not use "
           "the source again before one comes",
           HandlerText(running_).text());
  }
  if (running_.index >= kClientHandlersFirst) warn_if_long(running_);
}

}  // namespace pinwire
