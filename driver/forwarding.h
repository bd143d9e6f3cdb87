// A driver that hands every call to another: the base of decorators, and of drivers that own what
// another one borrows.
#pragma once

#include "driver/driver.h"

namespace pinwire {

class ForwardingDriver : public Driver {
 public:
  const char* name() const noexcept override { return inner_->name(); }
  Caps caps() const noexcept override { return inner_->caps(); }
  Status open(const OpenInfo& info) override { return inner_->open(info); }
  std::vector<std::byte> address() const override { return inner_->address(); }
  Status connect(Rank peer, std::span<const std::byte> address) override {
    return inner_->connect(peer, address);
  }
  Result<Region> pin(void* base, uint64_t bytes, int fd, uint64_t fd_offset) override {
    return inner_->pin(base, bytes, fd, fd_offset);
  }
  Result<Region> expose(void* base, uint64_t bytes) override { return inner_->expose(base, bytes); }
  Result<Region> pin_device(void* base, uint64_t bytes, int dmabuf) override {
    return inner_->pin_device(base, bytes, dmabuf);
  }
  Status unpin(const Region& region) override { return inner_->unpin(region); }
  uint32_t atomics_on(uint32_t remote_key) const noexcept override {
    return inner_->atomics_on(remote_key);
  }
  void close() override { inner_->close(); }

  uint32_t post(uint32_t lane, std::span<const Work> work) noexcept override {
    return inner_->post(lane, work);
  }
  Lent lend(uint32_t lane, Rank peer, uint64_t bytes) noexcept override {
    return inner_->lend(lane, peer, bytes);
  }
  void take_back(uint32_t lane, const Lent& lent) noexcept override {
    inner_->take_back(lane, lent);
  }
  uint32_t done(uint32_t lane, std::span<Done> out) noexcept override {
    return inner_->done(lane, out);
  }
  uint32_t recv(uint32_t lane, RecvFilter filter, std::span<Recv> out) noexcept override {
    return inner_->recv(lane, filter, out);
  }
  void give_back(uint32_t lane, std::span<const Recv> buffers) noexcept override {
    inner_->give_back(lane, buffers);
  }
  bool idle(uint32_t lane) const noexcept override { return inner_->idle(lane); }
  bool has_arrivals(uint32_t lane) const noexcept override { return inner_->has_arrivals(lane); }
  int event_fd(uint32_t lane) const noexcept override { return inner_->event_fd(lane); }
  Armed arm(uint32_t lane) noexcept override { return inner_->arm(lane); }
  bool disarm(uint32_t lane) noexcept override { return inner_->disarm(lane); }
  bool drained(uint32_t lane) const noexcept override { return inner_->drained(lane); }
  const Failure* failure() const noexcept override { return inner_->failure(); }
  void stats(StatSink& sink) const noexcept override { inner_->stats(sink); }

 protected:
  /// `inner` outlives this driver's use.
  explicit ForwardingDriver(Driver& inner) noexcept : inner_(&inner) {}
  Driver& inner() const noexcept { return *inner_; }

 private:
  Driver* inner_;
};

}  // namespace pinwire
