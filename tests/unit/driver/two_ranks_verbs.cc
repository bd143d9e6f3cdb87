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
  for (const uint8_t rank : {uint8_t{0}, uint8_t{1}}) {
    fake_verbs::HcaSpec spec =
        fake_verbs::roce("rank" + std::to_string(rank), static_cast<uint8_t>(rank + 1));
    spec.odp = fake_verbs::all_paging();
    network->fabric.add(std::move(spec));
  }
  return network;
}

std::unique_ptr<Driver> make_verbs_rank(Rank rank) {
  VerbsOptions options;
  options.device = "rank" + std::to_string(rank);
  options.connects_in_polls = true;
  options.pages_on_demand = true;
  auto driver = make_verbs_driver(options);
  EXPECT_TRUE(driver.ok()) << driver.sentence();
  return std::move(*driver);
}

}  // namespace pinwire
