#include "driver/shown_order.h"

#include <atomic>

#include "driver/forwarding.h"

namespace pinwire {
namespace {

/// The knowledge of peers about this process, and of this process about them; over all drivers and
/// lanes, as peers pass on what they were told by any way.
std::atomic<uint64_t> told{0};

/// Each pairs with every later learn().
void tell() noexcept { told.fetch_add(1, std::memory_order_release); }
void learn() noexcept { told.load(std::memory_order_acquire); }

class ShownOrder final : public ForwardingDriver {
 public:
  explicit ShownOrder(std::unique_ptr<Driver> driver)
      : ForwardingDriver(*driver), owned_(std::move(driver)) {}

  uint32_t post(uint32_t lane, std::span<const Work> work) noexcept override {
    tell();
    return inner().post(lane, work);
  }
  Lent lend(uint32_t lane, Rank peer, uint64_t bytes) noexcept override {
    const Lent lent = inner().lend(lane, peer, bytes);
    if (lent.payload != nullptr) learn();
    return lent;
  }
  void take_back(uint32_t lane, const Lent& lent) noexcept override {
    tell();
    inner().take_back(lane, lent);
  }
  uint32_t done(uint32_t lane, std::span<Done> out) noexcept override {
    const uint32_t count = inner().done(lane, out);
    if (count != 0) learn();
    return count;
  }
  uint32_t recv(uint32_t lane, RecvFilter filter, std::span<Recv> out) noexcept override {
    learn();  // a driver whose work CPUs do carries out peers' puts and gets in here
    return inner().recv(lane, filter, out);
  }
  void give_back(uint32_t lane, std::span<const Recv> buffers) noexcept override {
    if (!buffers.empty()) tell();
    inner().give_back(lane, buffers);
  }

 private:
  std::unique_ptr<Driver> owned_;
};

}  // namespace

std::unique_ptr<Driver> make_shown_order(std::unique_ptr<Driver> inner) {
  return std::make_unique<ShownOrder>(std::move(inner));
}

}  // namespace pinwire
