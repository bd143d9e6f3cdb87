// Requests for one connection under construction, to be posted with one doorbell.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "core/base/check.h"
#include "driver/verbs/peer/link.h"

namespace pinwire::verbs {

class Chain {
 public:
  static constexpr uint32_t kMax = 32;

  Link* link() const noexcept { return link_; }
  uint32_t count() const noexcept { return count_; }
  bool has_room(uint32_t wanted) const noexcept { return count_ + wanted <= kMax; }
  ibv_send_wr* first() noexcept {
    dcheck(count_ != 0, "a chain without a request is posted");
    return requests_;
  }
  const ibv_send_wr& last() const noexcept {
    dcheck(count_ != 0, "no request");
    return requests_[count_ - 1];
  }

  void start(Link& link) noexcept {
    link_ = &link;
    count_ = 0;
  }

  ibv_send_wr& add(ibv_wr_opcode opcode) noexcept {
    dcheck(count_ < kMax, "a chain too long", count_);
    ibv_send_wr& request = requests_[count_];
    request = {};
    request.opcode = opcode;
    request.sg_list = pieces_[count_];
    if (count_ != 0) requests_[count_ - 1].next = &request;
    ++count_;
    return request;
  }
  static void add_piece(ibv_send_wr& request, const void* at, uint64_t bytes,
                        uint32_t key) noexcept {
    if (bytes == 0) return;
    dcheck(request.num_sge < static_cast<int>(kSendPiecesMax), "a request of too many pieces",
           request.num_sge);
    dcheck(bytes <= ~uint32_t{0}, "a piece of more bytes than its length counts", bytes);
    request.sg_list[request.num_sge++] = {reinterpret_cast<uint64_t>(at),
                                          static_cast<uint32_t>(bytes), key};
  }

 private:
  Link* link_ = nullptr;
  uint32_t count_ = 0;
  ibv_send_wr requests_[kMax];
  ibv_sge pieces_[kMax][kSendPiecesMax];
};

}  // namespace pinwire::verbs
