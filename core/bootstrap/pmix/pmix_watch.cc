#include "core/bootstrap/pmix/pmix_watch.h"

#include <atomic>
#include <iterator>

#include "core/bootstrap/launcher_gone.h"

namespace pinwire::bootstrap {
namespace {

// Relaxed: the thread that finalizes sets it before PMIx, which has locks of its own, can notice.
std::atomic<bool> end_is_expected{false};

// PMIx reads the array later, in its thread. Version 3 reports the second code, version 4 the
// first.
pmix::Code lost_codes[] = {pmix::kLostConnection, pmix::kLostConnectionToServer};

void on_lost(size_t, pmix::Code, const pmix::Process*, pmix::Info*, size_t, pmix::Info*, size_t,
             pmix::OnEventHandled next, void* context) {
  if (!end_is_expected.load(std::memory_order_relaxed))
    end_without_launcher("the PMIx server (mpirun, srun)");
  if (next != nullptr) next(pmix::kEventActionComplete, nullptr, 0, nullptr, nullptr, context);
}

void on_registered(pmix::Code, size_t, void*) {}

}  // namespace

void watch_pmix_server(const PmixLibrary& library) {
  library.register_event_handler(lost_codes, std::size(lost_codes), nullptr, 0, on_lost,
                                 on_registered, nullptr);
}

void expect_pmix_end() noexcept { end_is_expected.store(true, std::memory_order_relaxed); }

}  // namespace pinwire::bootstrap
