// A privileged program (core/base/privilege.h) does not heed some variables of the environment.
#pragma once

#include <string>
#include <vector>

#include "core/config/settings.h"

namespace pinwire {

/// `lookup`, or in a privileged program one that finds none of the variables which name files that
/// the library writes, or code that it loads: GASNET_TRACEFILE, GASNET_STATSFILE, and
/// GASNET_EAL_ARGS, whose -d loads a plugin and whose devices open files.
Lookup heeded(Lookup lookup, bool privileged);

/// A warning for each variable that `lookup` finds and heeded() does not.
std::vector<std::string> warnings_of_privilege(const Lookup& lookup, bool privileged);

}  // namespace pinwire
