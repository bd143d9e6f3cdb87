// The kernel's description of NUMA nodes, in trees of files that are made up.
#include "core/topo/numa.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace pinwire {
namespace {

class Sysfs : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/sysfs-XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    root_ = path;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& name, const std::string& line) {
    const std::filesystem::path path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << line << "\n";
  }
  void node(int number, const std::string& cpus, const std::string& distances) {
    const std::string folder = "devices/system/node/node" + std::to_string(number);
    write(folder + "/cpulist", cpus);
    write(folder + "/distance", distances);
  }
  void device(const std::string& address, const std::string& node) {
    write("bus/pci/devices/" + address + "/numa_node", node);
  }
  /// Two sockets, and memory without CPUs far from both.
  void two_sockets() {
    write("devices/system/node/online", "0-1,4");
    node(0, "0-3,8-11", "10 21 28");
    node(1, "4-7,12-15", "21 10 28");
    node(4, "", "28 28 10");
    device("0000:3b:00.0", "0");
    device("0000:af:00.0", "1");
    device("0001:01:00.0", "4");
    device("0000:05:00.0", "-1");
  }
  Numa read() const { return Numa(root_.string()); }
  std::filesystem::path root_;
};

TEST_F(Sysfs, NodesOfCpus) {
  two_sockets();
  const Numa numa = read();
  EXPECT_EQ(numa.nodes_of({2}), 1u);
  EXPECT_EQ(numa.nodes_of({15}), 2u);
  EXPECT_EQ(numa.nodes_of({0, 4, 5}), 3u);
  EXPECT_EQ(numa.nodes_of({99}), 0u);
}

TEST_F(Sysfs, NodesOfDevices) {
  two_sockets();
  const Numa numa = read();
  EXPECT_EQ(numa.node_of_pci("0000:af:00.0"), 1);
  EXPECT_EQ(numa.node_of_pci("af:00.0"), 1) << "the first domain goes without saying";
  EXPECT_EQ(numa.node_of_pci("0001:01:00.0"), 4);
  EXPECT_EQ(numa.node_of_pci("0000:05:00.0"), -1);
  EXPECT_EQ(numa.node_of_pci("0000:99:00.0"), -1);
}

TEST_F(Sysfs, Distances) {
  two_sockets();
  const Numa numa = read();
  EXPECT_EQ(numa.distance(1, 0), kDistanceLocal);
  EXPECT_EQ(numa.distance(1, 1), 21u);
  EXPECT_EQ(numa.distance(2, 4), 28u) << "the third column is node 4";
  EXPECT_EQ(numa.distance(3, 1), 15u) << "the mean";
  EXPECT_EQ(numa.distance(0, 1), kDistanceUnknown);
  EXPECT_EQ(numa.distance(1, -1), kDistanceUnknown);
  EXPECT_EQ(numa.distance(1, 3), kDistanceUnknown);
}

TEST_F(Sysfs, WhereThereIsOneNodeEveryDeviceIsOnIt) {
  write("devices/system/node/online", "0");
  node(0, "0-1", "10");
  device("0000:05:00.0", "-1");
  const Numa numa = read();
  EXPECT_EQ(numa.node_of_pci("0000:05:00.0"), 0);
  EXPECT_EQ(numa.node_of_pci("0000:99:00.0"), -1) << "but one that is not there";
}

TEST_F(Sysfs, AKernelWithoutNodesKnowsNothing) {
  const Numa numa = read();
  EXPECT_EQ(numa.nodes_of({0}), 0u);
  EXPECT_EQ(numa.distance(numa.nodes_of({0}), 0), kDistanceUnknown);
}

TEST(NodeList, InWords) {
  EXPECT_EQ(node_list(0), "?");
  EXPECT_EQ(node_list(1), "0");
  EXPECT_EQ(node_list(0x15), "0,2,4");
}

}  // namespace
}  // namespace pinwire
