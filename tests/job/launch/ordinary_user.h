// Jobs of an ordinary user, in tests that root runs.
#pragma once

#include <sys/prctl.h>
#include <sys/statvfs.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/job/launch/run.h"

namespace pinwire_test {

/// `words` as a user without any right runs them, by setpriv(1).
inline std::vector<std::string> as_user(std::vector<std::string> words) {
  words.insert(words.begin(), {"setpriv", "--reuid=770001", "--regid=770001", "--clear-groups",
                               "--inh-caps=-all", "--"});
  return words;
}

/// Why no program in `programs` can have more rights than its user; empty: one can.
inline std::string why_no_rights(const Folder& programs) {
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0) return "no_new_privs is set";
  struct statvfs facts {};
  if (::statvfs(programs.path().c_str(), &facts) != 0 || (facts.f_flag & ST_NOSUID) != 0)
    return "the file system of /tmp is mounted nosuid";
  return "";
}

}  // namespace pinwire_test
