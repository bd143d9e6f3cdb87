// Jobs with a program in ssh's place that runs its command here.
#pragma once

#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {

class Ssh : public Launch {
 protected:
  std::vector<std::string> with_ssh(std::vector<std::string> more = {}) const {
    more.push_back(std::string("GASNET_SSH_CMD=") + std::getenv("FAKE_SSH"));
    return more;
  }
  Outcome ssh(int ranks, std::vector<std::string> words,
              std::vector<std::string> options = {"--hosts", "n0,n1"},
              std::vector<std::string> more = {}, const std::string& input = "") const {
    return launch(ranks, std::move(words), std::move(options), with_ssh(std::move(more)), input);
  }
};

}  // namespace pinwire_test
