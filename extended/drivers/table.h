// The drivers that this build has, in one explicit table: a static archive drops constructor
// registration.
#pragma once

#include <memory>
#include <vector>

#include "driver/driver.h"
#include "extended/state/job.h"

namespace pinwire {

/// One for each rail: a port over which all peers are reached. As many on every rank.
using Rails = std::vector<std::unique_ptr<Driver>>;

/// The driver for peers on other hosts: the first of the table that works on every rank, or the one
/// that GASNET_DRIVER names. A sentence that says of each why it was passed over. Collective.
Result<Rails> make_network_rails(const Job& job);

/// The least that any rank has; 0: one has none. Collective.
Result<size_t> rails_everywhere(const Job& job, size_t here);

/// `driver` inside the decorators that this build and the settings want: `checked` in builds with
/// checks, `faulty` where GASNET_FAULTS says so. Production builds link one that adds nothing.
Result<std::unique_ptr<Driver>> decorate(std::unique_ptr<Driver> driver, const Settings& settings);

/// One function for each row. A build without the device's library links one that says so.
Result<Rails> make_verbs_for(const Job& job);
Result<Rails> make_dpdk_for(const Job& job);

/// How many rails make_verbs_for() will find, before it opens them; 0: it will fail.
size_t count_verbs_rails(const Job& job);

}  // namespace pinwire
