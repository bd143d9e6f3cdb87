#include "extended/state/objects.h"

#include <cstdarg>
#include <cstdio>

#include "core/base/check.h"
#include "core/base/log.h"
#include "core/engine/engine.h"

namespace pinwire {

Objects objects;
constinit std::atomic<bool> tells_errors{true};

void make_segment_object(void* base, uint64_t bytes) {
  check(objects.endpoint != nullptr, "a segment before there is an endpoint");
  check(objects.segment == nullptr, "a process attaches once");
  objects.segment = new pinwire_segment{objects.client, base, bytes};
  objects.endpoint->segment = objects.segment;
}

pinwire_ep* make_endpoint(gex_EP_Capabilities_t capabilities, gex_Flags_t flags) {
  uint32_t index = objects.endpoint_count.load(std::memory_order_relaxed);
  do {
    if (index == kEndpointsMax) return nullptr;
  } while (!objects.endpoint_count.compare_exchange_weak(index, index + 1));
  auto* endpoint = new pinwire_ep;
  endpoint->client = objects.client;
  endpoint->index = static_cast<gex_EP_Index_t>(index);
  endpoint->capabilities = capabilities;
  endpoint->flags = flags;
  check(objects.endpoints[index] == nullptr, "two endpoints with one index", index);
  objects.endpoints[index] = endpoint;
  return endpoint;
}

int api_error(int code, const char* format, ...) noexcept {
  if (!tells_errors.load(std::memory_order_relaxed)) return code;
  char sentence[512];
  va_list words;
  va_start(words, format);
  std::vsnprintf(sentence, sizeof sentence, format, words);
  va_end(words);
  log_warning("%s", sentence);
  return code;
}

int api_failure(const char* call, const Status& status) noexcept {
  return api_error(GASNET_ERR_RESOURCE, "%s failed: %s", call, status.sentence().c_str());
}

}  // namespace pinwire
