#include "driver/verbs/device/failure.h"

namespace pinwire::verbs {

WorkStatus status_of(ibv_wc_status status) noexcept {
  switch (status) {
    case IBV_WC_SUCCESS:
      return WorkStatus::kOk;
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
      return WorkStatus::kRemoteAccess;
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_LOC_QP_OP_ERR:
      return WorkStatus::kLocalAccess;
    case IBV_WC_WR_FLUSH_ERR:
      return WorkStatus::kFlushed;
    default:
      return WorkStatus::kUnreachable;
  }
}

const char* advice_on(ibv_wc_status status) noexcept {
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      return "it does not answer: it died, or the network between is down or drops too much";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "it has no receive buffers and posts none";
    case IBV_WC_REM_ACCESS_ERR:
      return "it refuses access to the address, which is outside what it has pinned, or mapped";
    case IBV_WC_REM_INV_REQ_ERR:
      return "it takes the request for malformed; do all ranks run the same build?";
    case IBV_WC_REM_OP_ERR:
      return "its device failed to carry it out; if that pages on demand, no memory is there";
    case IBV_WC_LOC_QP_OP_ERR:
      return "the device cannot send on this connection: on iWARP the peer died or the network "
             "between is down, elsewhere see the device's log (dmesg)";
    case IBV_WC_LOC_PROT_ERR:
      return "the local memory is not pinned, or was unmapped since";
    case IBV_WC_WR_FLUSH_ERR:
      return "the connection had failed before";
    default:
      return "see the device's log (dmesg)";
  }
}

}  // namespace pinwire::verbs
