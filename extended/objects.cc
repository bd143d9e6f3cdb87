#include "extended/objects.h"

#include <cstdarg>
#include <cstdio>

#include "core/base/log.h"
#include "core/engine/engine.h"
#include "extended/coll/member.h"

namespace pinwire {

Objects objects;
bool tells_errors = true;

void make_objects(const char* client_name, gex_Flags_t flags) {
  objects.client = new pinwire_client{client_name, flags, nullptr};
  objects.endpoint = new pinwire_ep;
  objects.endpoint->client = objects.client;
  objects.team = new pinwire_tm{{}, objects.endpoint, engine.rank, engine.rank_count};
  objects.team->member = &take_seat();
  open_seat(*objects.team->member, objects.team, nullptr);
}

void make_segment_object(void* base, uint64_t bytes) {
  objects.segment = new pinwire_segment{objects.client, base, bytes, nullptr};
  objects.endpoint->segment = objects.segment;
}

int api_error(int code, const char* format, ...) noexcept {
  if (!tells_errors) return code;
  char sentence[512];
  va_list words;
  va_start(words, format);
  std::vsnprintf(sentence, sizeof sentence, format, words);
  va_end(words);
  log_warning("%s", sentence);
  return code;
}

}  // namespace pinwire
