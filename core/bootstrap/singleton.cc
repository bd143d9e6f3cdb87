#include "core/bootstrap/singleton.h"

#include <cstdlib>

#include "core/bootstrap/job_key.h"

namespace pinwire {
namespace {

class SingletonBootstrap final : public Bootstrap {
 public:
  const char* name() const noexcept override { return "singleton"; }
  Rank rank() const noexcept override { return 0; }
  Rank rank_count() const noexcept override { return 1; }
  uint64_t job_key() const noexcept override { return job_key_; }
  Result<std::vector<std::vector<std::byte>>> all_gather(std::span<const std::byte> mine) override {
    return std::vector<std::vector<std::byte>>{{mine.begin(), mine.end()}};
  }
  Status barrier() override { return success(); }
  const char* job_environment(const char* name) const noexcept override {
    return std::getenv(name);
  }
  void leaving(int, AfterIt) noexcept override {}  // there is nobody to tell

 private:
  uint64_t job_key_ = make_job_key();
};

}  // namespace

std::unique_ptr<Bootstrap> make_singleton_bootstrap() {
  return std::make_unique<SingletonBootstrap>();
}

}  // namespace pinwire
