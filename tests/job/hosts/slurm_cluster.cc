#include "tests/job/hosts/slurm_cluster.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace pinwire_test {
namespace {

constexpr double kStartSeconds = 60;
constexpr int kNodes = 2;

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  const std::string whole = name;
  return whole.substr(0, whole.find('.'));
}

}  // namespace

std::string SlurmCluster::missing() {
  if (::geteuid() != 0) return "slurmd starts its jobs as root";
  for (const char* program : {"munged", "slurmctld", "slurmd", "srun", "sinfo"})
    if (std::system(("command -v " + std::string(program) + " >/dev/null 2>&1").c_str()) != 0)
      return "no " + std::string(program) + " here (scripts/install-packages daemon installs it)";
  return "";
}

void SlurmCluster::configure() const {
  ::chmod(folder_.path().c_str(), 0755);  // munge insists that everyone can reach its socket
  std::random_device noise;
  std::ofstream key(path("munge.key"), std::ios::binary);
  for (int i = 0; i < 128; ++i) key.put(static_cast<char>(noise()));
  key.close();
  ::chmod(path("munge.key").c_str(), 0600);
  const auto ports = free_ports(1 + kNodes);
  std::ofstream conf(path("slurm.conf"));
  const std::string& at = folder_.path();
  conf << "ClusterName=pinwire\nSlurmctldHost=" << host_name() << "(127.0.0.1)\n"
       << "SlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\nCredType=cred/munge\n"
       << "AuthInfo=socket=" << at << "/munge.sock\nMpiDefault=pmix\n"
       << "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n"
       << "SelectTypeParameters=CR_Core\nSwitchType=switch/none\n"
       << "JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n"
       << "SlurmctldPort=" << ports[0] << "\nStateSaveLocation=" << at << "/state\n"
       << "SlurmdSpoolDir=" << at << "/spool.%n\nTmpFS=" << at << "/tmp.%n\n"
       << "SlurmctldPidFile=" << at << "/slurmctld.pid\nSlurmdPidFile=" << at << "/slurmd.%n.pid\n"
       << "SlurmctldLogFile=" << at << "/slurmctld.log\nSlurmdLogFile=" << at << "/slurmd.%n.log\n"
       << "ReturnToService=2\nSlurmdParameters=config_overrides\n"
       << "PropagateResourceLimitsExcept=MEMLOCK\n";
  ::mkdir(path("state").c_str(), 0755);
  for (int node = 0; node < kNodes; ++node) {
    const auto name = "n" + std::to_string(node);
    for (const char* kind : {"spool.", "tmp."}) ::mkdir(path((kind + name).c_str()).c_str(), 0755);
    conf << "NodeName=" << name << " NodeHostname=" << host_name()
         << " NodeAddr=127.0.0.1 Port=" << ports[static_cast<size_t>(1 + node)]
         << " CPUs=4 RealMemory=1000 State=UNKNOWN\n";
  }
  conf << "PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES\n";
}

SlurmCluster::SlurmCluster(const std::vector<std::string>& variables) : variables_(variables) {
  configure();
  variables_.push_back(variable());
  const auto start = [&](std::vector<std::string> words) {
    daemons_.push_back(std::make_unique<Running>(words, variables_));
  };
  start({"munged", "--foreground", "--force", "--key-file=" + path("munge.key"),
         "--socket=" + path("munge.sock"), "--pid-file=" + path("munge.pid"),
         "--log-file=" + path("munge.log"), "--seed-file=" + path("munge.seed")});
  for (const double until = now_s() + kStartSeconds; now_s() < until; ::usleep(10'000))
    if (std::filesystem::exists(path("munge.sock"))) break;
  start({"slurmctld", "-D", "-f", path("slurm.conf")});
  for (int node = 0; node < kNodes; ++node)
    start({"slurmd", "-D", "-N", "n" + std::to_string(node), "-f", path("slurm.conf")});
  up_ = wait_until_idle();
}

bool SlurmCluster::wait_until_idle() const {
  for (const double until = now_s() + kStartSeconds; now_s() < until; ::usleep(50'000))
    if (run({"sinfo", "-h", "-o", "%T %D"}, variables_, "", 30).out == "idle 2\n") return true;
  return false;
}

SlurmCluster::~SlurmCluster() {
  std::reverse(daemons_.begin(), daemons_.end());
  for (const auto& daemon : daemons_) {
    ::kill(daemon->process(), SIGTERM);
    daemon->wait(10);
  }
}

std::string SlurmCluster::logs() const {
  std::stringstream text;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    if (entry.path().extension() == ".log") text << std::ifstream(entry.path()).rdbuf();
  return text.str();
}

}  // namespace pinwire_test
