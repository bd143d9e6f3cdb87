#include "driver/verbs/driver.h"
#include "tests/support/verbs/fake_verbs.h"
#include "tests/unit/driver/two_ranks.h"

namespace pinwire {
namespace {

struct Network {
  ~Network() {
    EXPECT_EQ(fabric.live(), std::vector<std::string>()) << "close() left something";
    EXPECT_EQ(fabric.violations(), std::vector<std::string>());
  }
  fake_verbs::Fabric fabric;
};

}  // namespace

bool has_verbs() noexcept { return true; }

std::shared_ptr<void> make_rdma_network() {
  auto network = std::make_shared<Network>();
  network->fabric.add(fake_verbs::roce("rank0", 1));
  network->fabric.add(fake_verbs::roce("rank1", 2));
  return network;
}

std::unique_ptr<Driver> make_verbs_rank(Rank rank) {
  VerbsOptions options;
  options.device = "rank" + std::to_string(rank);
  options.connects_in_polls = true;
  auto driver = make_verbs_driver(options);
  EXPECT_TRUE(driver.ok()) << driver.sentence();
  return std::move(*driver);
}

}  // namespace pinwire
