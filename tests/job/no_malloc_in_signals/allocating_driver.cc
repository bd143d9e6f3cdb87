// Allocates whenever the library asks the driver for arrivals, as a part of it would that must not:
// the program that links this in place of the library's own decorate() is the one that the hook has
// to end.
#include <cstdlib>
#include <memory>
#include <utility>

#include "driver/forwarding.h"
#include "extended/drivers/table.h"

namespace pinwire {
namespace {

class AllocatingDriver final : public ForwardingDriver {
 public:
  explicit AllocatingDriver(std::unique_ptr<Driver> inner)
      : ForwardingDriver(*inner), owned_(std::move(inner)) {}
  uint32_t recv(uint32_t lane, RecvFilter filter, std::span<Recv> out) noexcept override {
    void* volatile memory = std::malloc(1);  // volatile: the compiler leaves the two calls alone
    std::free(memory);
    return ForwardingDriver::recv(lane, filter, out);
  }

 private:
  const std::unique_ptr<Driver> owned_;
};

}  // namespace

Result<std::unique_ptr<Driver>> decorate(std::unique_ptr<Driver> driver, const Settings&) {
  return std::unique_ptr<Driver>(std::make_unique<AllocatingDriver>(std::move(driver)));
}

}  // namespace pinwire
