// A rank for the launcher's tests: uses core/bootstrap and nothing else of Pinwire.
//   launch_rank VERB [arguments]
#include <arpa/inet.h>
#include <dlfcn.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "core/base/clock.h"
#include "core/base/descriptors/fd_passing.h"
#include "core/base/descriptors/offered_files.h"
#include "core/base/descriptors/peer_file.h"
#include "core/base/files/file_inode.h"
#include "core/bootstrap/bootstrap.h"
#include "core/bootstrap/gather_values.h"
#include "tests/support/byte_pattern.h"

namespace {

using pinwire::Bootstrap;
using Arguments = const char* const*;

[[noreturn]] void die(const std::string& sentence) {
  std::fprintf(stderr, "launch_rank: %s\n", sentence.c_str());
  std::_Exit(99);
}

std::vector<std::byte> contribution(pinwire::Rank rank, size_t round, size_t base_bytes) {
  std::vector<std::byte> bytes(base_bytes + rank);
  fill_pattern(bytes.data(), bytes.size(), static_cast<unsigned>(rank * 1000 + round));
  return bytes;
}

/// gather BYTES ROUNDS: rank r contributes BYTES + r bytes; all are checked.
int gather(Bootstrap& job, Arguments more) {
  const size_t base_bytes = std::strtoul(more[0], nullptr, 10),
               rounds = std::strtoul(more[1], nullptr, 10);
  for (size_t round = 0; round < rounds; ++round) {
    const auto mine = contribution(job.rank(), round, base_bytes);
    auto all = job.all_gather(mine);
    if (!all) die(all.sentence());
    if (all->size() != job.rank_count()) die("wrong number of contributions");
    for (pinwire::Rank rank = 0; rank < job.rank_count(); ++rank) {
      if ((*all)[rank] != contribution(rank, round, base_bytes)) die("wrong contribution");
    }
    if (auto passed = job.barrier(); !passed) die(passed.sentence());
  }
  std::printf("%s rank %u of %u key %s\n", job.name(), job.rank(), job.rank_count(),
              job.job_key() ? "yes" : "no");
  return 0;
}

/// barriers ROUNDS: nobody may leave a barrier before the last has come. (All on one host.)
int barriers(Bootstrap& job, Arguments more) {
  for (int round = 0; round < std::atoi(more[0]); ++round) {
    if (static_cast<int>(job.rank()) == round % static_cast<int>(job.rank_count()))
      ::usleep(100'000);
    struct {
      double came, left;
    } times = {pinwire::monotonic_s(), 0};
    if (auto passed = job.barrier(); !passed) die(passed.sentence());
    times.left = pinwire::monotonic_s();
    auto all = pinwire::gather_values(job, times);
    if (!all) die(all.sentence());
    double last_came = 0, first_left = times.left;
    for (const auto& one : *all) {
      last_came = std::max(last_came, one.came);
      first_left = std::min(first_left, one.left);
    }
    if (first_left < last_came) die("a rank left a barrier before the last came");
  }
  std::printf("in order\n");
  return 0;
}

/// keys: prints the job's key.
int keys(Bootstrap& job, Arguments) {
  std::printf("key %016llx\n", static_cast<unsigned long long>(job.job_key()));
  return 0;
}

/// environment NAME: what the job's environment says.
int environment(Bootstrap& job, Arguments more) {
  const char* value = job.job_environment(more[0]);
  std::printf("%s=%s\n", more[0], value ? value : "(unset)");
  return 0;
}

/// again TIMES CODE: rank 0 asks for another start until LIFE is TIMES; then all leave with CODE.
int again(Bootstrap& job, Arguments more) {
  const char* life = job.job_environment("LIFE");
  const char* path = std::getenv("GASNET_JOB_AGAIN");
  std::printf("rank %u, life %s%s\n", job.rank(), life, path ? "" : ", the last");
  if (path == nullptr || std::atoi(life) == std::atoi(more[0])) return std::atoi(more[1]);
  if (job.rank() == 0) {
    FILE* file = std::fopen(path, "w");
    if (file == nullptr) die("no file to ask for another start");
    std::fprintf(file, "LIFE=%d%cFRUIT=a = b%chalf an assignment", std::atoi(life) + 1, 0, 0);
    std::fclose(file);
  }
  auto passed = job.barrier();
  return passed ? std::atoi(more[2]) : 1;
}

/// all-leave CODE: every rank leaves with CODE + its rank; says if it sees SIGQUIT.
int all_leave(Bootstrap& job, Arguments more) {
  ::signal(SIGQUIT, [](int) { [[maybe_unused]] auto n = ::write(1, "SIGQUIT\n", 8); });
  if (auto passed = job.barrier(); !passed) die(passed.sentence());
  return std::atoi(more[0]) + static_cast<int>(job.rank());
}

/// beside-mpi: every rank leaves with 0, while something else in the process still uses PMIx.
int beside_mpi(Bootstrap& job, Arguments) {
  void* const pmix = ::dlopen("libpmix.so.2", RTLD_NOW);
  if (pmix == nullptr) die(::dlerror());
  using Init = int (*)(void*, void*, size_t);
  const auto begin = reinterpret_cast<Init>(::dlsym(pmix, "PMIx_Init"));
  if (begin == nullptr || begin(nullptr, nullptr, 0) != 0) die("PMIx_Init fails");
  auto passed = job.barrier();
  return passed ? 0 : 1;
}

volatile sig_atomic_t quit_seen = 0;

/// one RANK DEED [CODE]: rank RANK does DEED after a while; the others wait for ever.
int one(Bootstrap& job, Arguments more) {
  ::signal(SIGQUIT, [](int) { quit_seen = 1; });
  if (auto passed = job.barrier(); !passed) die(passed.sentence());
  std::printf("ready\n");
  std::fflush(stdout);
  if (job.rank() != static_cast<pinwire::Rank>(std::atoi(more[0]))) {
    while (!quit_seen) ::usleep(1000);
    std::printf("rank %u got SIGQUIT\n", job.rank());
    std::fflush(stdout);
    if (std::getenv("STUBBORN"))
      for (;;) ::pause();
    return 55;
  }
  ::usleep(static_cast<useconds_t>(::getpid() % 20) * 1000);
  const std::string deed = more[1];
  if (deed == "leave") return std::atoi(more[2]);
  if (deed == "_exit") std::_Exit(std::atoi(more[2]));
  if (deed == "kill") ::kill(::getpid(), SIGKILL);
  if (deed == "segv") {
    ::signal(SIGSEGV, SIG_DFL);  // a sanitizer would make an exit of it
    ::kill(::getpid(), SIGSEGV);
  }
  if (deed == "abort") std::abort();
  die("no such deed");
}

/// wait: prints its process, then sleeps for ever; a child of its sleeps too.
int wait_for_ever(Bootstrap& job, Arguments) {
  if (auto passed = job.barrier(); !passed) die(passed.sentence());
  const pid_t child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  std::printf("waiting %d\n", ::getpid());
  std::fflush(stdout);
  for (;;) ::pause();
}

/// orphan [CODE]: leaves a process in a session of its own, then sleeps for ever, or leaves.
int orphan(Bootstrap& job, Arguments more) {
  if (auto passed = job.barrier(); !passed) die(passed.sentence());
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    if (::fork() != 0) std::_Exit(0);
    for (;;) ::pause();
  }
  ::waitpid(child, nullptr, 0);
  std::printf("waiting\n");
  std::fflush(stdout);
  while (more[0] == nullptr) ::pause();
  auto passed = job.barrier();
  return passed ? std::atoi(more[0]) : 1;
}

/// peer-file [server]: opens a file of the next rank as drivers do; else says why not, and what to
/// do.
int peer_file(Bootstrap& job, Arguments more) {
  struct Address {
    int pid, fd;
    uint64_t inode;
    pinwire::FdServerAddress server;
  };
  const int fd = ::memfd_create("launch-rank", MFD_CLOEXEC);
  Address mine{::getpid(), fd, pinwire::inode_of(fd), 0};
  pinwire::offer_file(fd);
  if (more[0] != nullptr) {
    auto server = pinwire::start_fd_server(job.job_key());
    if (!server) die(server.sentence());
    mine.server = *server;
  }
  auto all = pinwire::gather_values(job, mine);
  if (!all) die(all.sentence());
  const Address next = (*all)[(job.rank() + 1) % job.rank_count()];
  pinwire::learn_fd_server(next.pid, next.server, job.job_key());
  const auto opened = pinwire::open_peer_file(next.pid, next.fd, next.inode, 0);
  if (opened)
    std::printf("opened\n");
  else
    std::printf("%s. %s\n", opened.sentence().c_str(), pinwire::advice_on_peer_files());
  auto passed = job.barrier();
  return passed ? 0 : 1;
}

/// becomes PROGRAM [ARGUMENT...]: another program, which has no descriptor of the library's.
int becomes(Bootstrap& job, Arguments more) {
  if (auto passed = job.barrier(); !passed) die(passed.sentence());
  ::execvp(more[0], const_cast<char* const*>(more));
  die("execvp");
}

/// lines COUNT: many lines at once, one half to each stream.
int lines(Bootstrap& job, Arguments more) {
  for (int i = 0; i < std::atoi(more[0]); ++i) {
    std::fprintf(i % 2 ? stdout : stderr, "rank %u line %d %s\n", job.rank(), i,
                 std::string(60, 'x').c_str());
    if (i % 50 == 0) std::fflush(stdout);
  }
  return 0;
}

/// frames INTERFACE: every rank broadcasts raw Ethernet frames until it has heard all others.
int frames(Bootstrap& job, Arguments more) {
  constexpr uint16_t kType = 0x88b5;  // for local experiments
  const int socket = ::socket(AF_PACKET, SOCK_RAW, htons(kType));
  sockaddr_ll where{};
  where.sll_family = AF_PACKET;
  where.sll_protocol = htons(kType);
  where.sll_ifindex = static_cast<int>(::if_nametoindex(more[0]));
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) die("bind");
  if (auto all_listen = job.barrier(); !all_listen) die(all_listen.sentence());
  std::set<uint8_t> heard = {static_cast<uint8_t>(job.rank())};
  uint8_t frame[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  frame[6] = 0x02;  // a bridge forwards nothing from an invalid source
  frame[11] = static_cast<uint8_t>(job.rank());
  frame[12] = kType >> 8;
  frame[13] = kType & 255;
  frame[14] = static_cast<uint8_t>(job.rank());
  for (int tries = 0; tries < 1000 && heard.size() < job.rank_count(); ++tries) {
    if (::send(socket, frame, sizeof frame, 0) < 0) die("send");
    pollfd one{socket, POLLIN, 0};
    uint8_t got[64];
    while (::poll(&one, 1, 10) > 0 && ::recv(socket, got, sizeof got, 0) >= 15)
      heard.insert(got[14]);
  }
  if (heard.size() == job.rank_count()) std::printf("heard all\n");
  auto passed = job.barrier();
  return passed ? 0 : 1;
}

}  // namespace

int main(int, char** argv) {
  const std::map<std::string, std::function<int(Bootstrap&, Arguments)>> verbs = {
      {"gather", gather},           {"keys", keys},
      {"environment", environment}, {"again", again},
      {"all-leave", all_leave},     {"one", one},
      {"wait", wait_for_ever},      {"frames", frames},
      {"barriers", barriers},       {"lines", lines},
      {"beside-mpi", beside_mpi},   {"peer-file", peer_file},
      {"becomes", becomes},         {"orphan", orphan}};
  const auto verb = verbs.find(argv[1] ? argv[1] : "");
  if (verb == verbs.end()) die("no such verb");
  auto job = pinwire::make_bootstrap();
  if (!job) die(job.sentence());
  const int code = verb->second(**job, argv + 2);
  std::fflush(stdout);
  (*job)->leaving(code, Bootstrap::AfterIt::kNothing);
  (*job)->before_end();
  std::_Exit(code);
}
