// From the job's settings to the verbs driver's options.
#include <algorithm>

#include "core/base/log.h"
#include "core/engine/engine.h"
#include "driver/verbs/driver.h"
#include "extended/driver_table.h"
#include "extended/nearest_port.h"

namespace pinwire {

Result<std::unique_ptr<Driver>> make_verbs_for(const Job& job) {
  const Settings& settings = job.settings;
  VerbsOptions options;
  options.device = settings.verbs_device;
  options.gid = settings.gid;
  options.choose = [&job](const std::vector<std::string>& addresses) {
    const NearestDevice device = nearest_device(job, addresses);
    if (job.settings.verbose_env) {
      log_note("verbs: of %zu ports that will do, number %u: %s", addresses.size(), device.index,
               addresses[device.index].empty() ? "a device in software" : device.story.c_str());
    }
    return device.index;
  };
  options.timeout = settings.qp_timeout;
  options.retry_count = settings.qp_retry_count;
  options.fences_puts = settings.verbs_fence;
  options.connect_timeout_s = settings.connect_timeout_s;
  options.show_story = settings.verbose_env && engine.rank == 0;
  return make_verbs_driver(options);
}

}  // namespace pinwire
