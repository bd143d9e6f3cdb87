// From the job's settings to the verbs driver's options.
#include <algorithm>

#include "core/engine/engine.h"
#include "driver/verbs/driver.h"
#include "extended/driver_table.h"

namespace pinwire {

Result<std::unique_ptr<Driver>> make_verbs_for(const Job& job) {
  const Settings& settings = job.settings;
  VerbsOptions options;
  options.device = settings.verbs_device;
  options.gid = settings.gid;
  options.host_rank = rank_on_host(job);
  options.timeout = settings.qp_timeout;
  options.retry_count = settings.qp_retry_count;
  options.show_story = settings.verbose_env && engine.rank == 0;
  return make_verbs_driver(options);
}

}  // namespace pinwire
