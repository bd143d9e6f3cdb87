// Names of things, and what a program that links libibverbs statically refers to.
#include <infiniband/verbs.h>

extern "C" {

const char* ibv_wc_status_str(ibv_wc_status status) {
  static constexpr const char* kNames[] = {"success",
                                           "local length error",
                                           "local QP operation error",
                                           "local EE context operation error",
                                           "local protection error",
                                           "Work Request Flushed Error",
                                           "memory management operation error",
                                           "bad response error",
                                           "local access error",
                                           "remote invalid request error",
                                           "remote access error",
                                           "remote operation error",
                                           "transport retry counter exceeded",
                                           "RNR retry counter exceeded",
                                           "local RDD violation error",
                                           "remote invalid RD request",
                                           "aborted error",
                                           "invalid EE context number",
                                           "invalid EE context state",
                                           "fatal error",
                                           "response timeout error",
                                           "general error",
                                           "TM error",
                                           "TM software rendezvous"};
  const auto index = static_cast<size_t>(status);
  return index < sizeof kNames / sizeof *kNames ? kNames[index] : "unknown";
}

const char* ibv_event_type_str(ibv_event_type event) {
  static constexpr const char* kNames[] = {"CQ error",
                                           "local work queue catastrophic error",
                                           "invalid request local work queue error",
                                           "local access violation work queue error",
                                           "communication established",
                                           "send queue drained",
                                           "path migrated",
                                           "path migration request error",
                                           "local catastrophic error",
                                           "port active",
                                           "port error",
                                           "LID change",
                                           "P_Key change",
                                           "SM change",
                                           "SRQ catastrophic error",
                                           "SRQ limit reached",
                                           "last WQE reached",
                                           "client reregistration",
                                           "GID table change",
                                           "WQ fatal"};
  const auto index = static_cast<size_t>(event);
  return index < sizeof kNames / sizeof *kNames ? kNames[index] : "unknown";
}

const char* ibv_port_state_str(ibv_port_state state) {
  static constexpr const char* kNames[] = {
      "no state change (NOP)", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  const auto index = static_cast<size_t>(state);
  return index < sizeof kNames / sizeof *kNames ? kNames[index] : "invalid state";
}

const char* ibv_node_type_str(ibv_node_type type) {
  static constexpr const char* kNames[] = {"unknown",           "InfiniBand channel adapter",
                                           "InfiniBand switch", "InfiniBand router",
                                           "iWARP NIC",         "usNIC",
                                           "usNIC UDP",         "unspecified"};
  const auto index = static_cast<size_t>(type);
  return index < sizeof kNames / sizeof *kNames ? kNames[index] : "unknown";
}

void ibv_static_providers(void*, ...) {}  // there is one network, and it is in here

}  // extern "C"
