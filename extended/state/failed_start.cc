#include "extended/state/failed_start.h"

#include <cstdio>

#include "am/interrupts/interrupts.h"
#include "core/base/check.h"
#include "core/base/log.h"
#include "core/base/memory/reserve.h"
#include "core/engine/engine.h"
#include "extended/state/job.h"
#include "extended/state/objects.h"

namespace pinwire {
namespace {

constinit char sentence[1024] = "";

}  // namespace

void note_failed_start(const char* call, const Status& status) {
  check(!status, "a start is noted as failed that did not fail");
  if (start_has_failed()) return;
  std::snprintf(sentence, sizeof sentence, "%s failed: %s", call, status.sentence().c_str());
  start_failure = sentence;
  engine.target_count = 0;
  // Nothing is reached by a copy: what a failed attach has mapped, too, goes through the library.
  ::pinwire_reach =
      reserve_table<struct pinwire_reach>(kTargetsMax, "the segments of all endpoints");
  if (job() == nullptr) {  // clients divide by the number of nodes
    gasneti_mynode = 0;
    gasneti_nodes = 1;
  }
  interrupts_clients = true;
}

void forget_failed_start() noexcept {
  if (!start_has_failed()) return;
  start_failure = nullptr;
  interrupts_clients = false;
}

void refuse_after_failed_start(const char* call) noexcept {
  if (start_has_failed()) fatal("%s cannot go on: %s", call, start_failure);
}

void give_objects_of_failed_start(gex_Client_t* client_p, gex_EP_t* ep_p, gex_TM_t* tm_p) noexcept {
  static pinwire_client client{"", 0, {}};
  static pinwire_ep endpoint{};
  static pinwire_tm team{{}, &endpoint, 0, 1};
  endpoint.client = &client;
  const bool has_job = objects.team != nullptr;
  if (client_p != nullptr) *client_p = has_job ? objects.client : &client;
  if (ep_p != nullptr) *ep_p = has_job ? objects.endpoint : &endpoint;
  if (tm_p != nullptr) *tm_p = has_job ? objects.team : &team;
}

}  // namespace pinwire
