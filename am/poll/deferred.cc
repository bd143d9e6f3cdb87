#include "am/poll/deferred.h"

#include "am/wake/sleepers.h"
#include "core/base/check.h"

namespace pinwire {
namespace {

uint32_t run(Deferred& work) noexcept {
  dcheck(work.run != nullptr, "a work that does nothing is deferred", &work);
  const uint32_t count = work.run(work);
  if constexpr (kChecks) dcheck(deferred_list.is_running(), "a work ends the run that it is in");
  return count;
}

uint32_t end_deferred(uint32_t count) noexcept {
  deferred_list.end();
  if (count != 0) note_progress();
  return count;
}

}  // namespace

uint32_t run_or_defer(Deferred& work) noexcept {
  if (!deferred_list.begin()) {
    defer(work);
    return 0;
  }
  return end_deferred(run(work));
}

uint32_t run_deferred() noexcept {
  if (!deferred_list.begin()) return 0;
  uint32_t count = 0;
  deferred_list.run_all(
      [&count](DeferredList::Item& item) { count += run(static_cast<Deferred&>(item)); });
  return end_deferred(count);
}

}  // namespace pinwire
