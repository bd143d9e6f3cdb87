#include "am/poll/deferred.h"

#include "am/wake/sleepers.h"

namespace pinwire {
namespace {

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
  return end_deferred(work.run(work));
}

uint32_t run_deferred() noexcept {
  if (!deferred_list.begin()) return 0;
  uint32_t count = 0;
  deferred_list.run_all([&count](DeferredList::Item& item) {
    auto& work = static_cast<Deferred&>(item);
    count += work.run(work);
  });
  return end_deferred(count);
}

}  // namespace pinwire
