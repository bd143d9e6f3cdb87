// Ranks that mpirun starts.
#pragma once

#include <utility>

#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {

class Mpirun : public Launch {
 protected:
  void SetUp() override {
    if (std::system("mpirun --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no mpirun here";
  }
  Outcome mpirun(int ranks, std::vector<std::string> words,
                 const std::string& more = kPatience) const {
    return mpirun(ranks, std::move(words), std::vector<std::string>{more});
  }
  Outcome mpirun(int ranks, std::vector<std::string> words, std::vector<std::string> more) const {
    std::vector<std::string> all = {"mpirun", "--allow-run-as-root", "--oversubscribe", "-n",
                                    std::to_string(ranks)};
    all.insert(all.end(), words.begin(), words.end());
    more.push_back("TMPDIR=" + folder_.path());
    return run(all, environment(more), "", 60);
  }
};

}  // namespace pinwire_test
