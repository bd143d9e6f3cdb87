#include "core/bootstrap/pmix/pmix_bootstrap.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "core/bootstrap/environment_block.h"
#include "core/bootstrap/job_key.h"
#include "core/bootstrap/pmix/pmix_farewell.h"
#include "core/bootstrap/pmix/pmix_library.h"
#include "core/bootstrap/pmix/pmix_watch.h"
#include "core/bootstrap/wire.h"
#include "core/config/settings.h"

namespace pinwire {
namespace {

using namespace bootstrap;  // NOLINT: the wire's words

/// A value that PMIx_Get gave, freed with its contents.
class Answer {
 public:
  ~Answer() {
    if (value_ == nullptr) return;
    if (value_->type == pmix::Type::kBytes) std::free(value_->data.bytes.bytes);
    if (value_->type == pmix::Type::kString) std::free(value_->data.string);
    std::free(value_);
  }
  Answer() = default;
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  pmix::Value** out() noexcept { return &value_; }
  Bytes bytes() const noexcept {
    if (value_ == nullptr || value_->type != pmix::Type::kBytes) return {};
    return {reinterpret_cast<const std::byte*>(value_->data.bytes.bytes), value_->data.bytes.size};
  }
  uint32_t number() const noexcept {
    return value_ != nullptr && value_->type == pmix::Type::kUint32 ? value_->data.uint32 : 0;
  }

 private:
  pmix::Value* value_ = nullptr;
};

class PmixBootstrap final : public Bootstrap {
 public:
  explicit PmixBootstrap(const PmixLibrary& library) : library_(library) {}
  Status join();
  const char* name() const noexcept override { return "pmix"; }
  Rank rank() const noexcept override { return me_.rank; }
  Rank rank_count() const noexcept override { return rank_count_; }
  uint64_t job_key() const noexcept override { return job_key_; }
  Result<std::vector<std::vector<std::byte>>> all_gather(std::span<const std::byte> mine) override;
  Status barrier() override { return fence(); }
  const char* job_environment(const char* name) const noexcept override {
    return environment_.find(name);
  }
  void leaving(int code, AfterIt after) noexcept override {
    if (farewell_) farewell_->say(code, after == AfterIt::kNothing);
  }

  void before_end() noexcept override {
    if (farewell_) farewell_->wait();
  }

 private:
  Error failed(const char* what, pmix::Code status) const {
    return error("PMIx cannot %s on rank %u: %s", what, me_.rank, library_.error_string(status));
  }
  pmix::Process process(Rank rank) const;
  Status fence();
  Status put_chunk(uint64_t offset, Bytes message);
  Result<std::vector<std::byte>> get_message(Rank rank);
  Status share_key_and_environment();

  const PmixLibrary library_;
  pmix::Process me_{};
  Rank rank_count_ = 0;
  uint64_t job_key_ = 0;
  uint32_t round_ = 0;
  EnvironmentBlock environment_;
  std::unique_ptr<PmixFarewell> farewell_;
};

/// Round 3's chunk at 65536: "pinwire.3.65536".
void chunk_name(char (&name)[64], uint32_t round, uint64_t offset) {
  std::snprintf(name, sizeof name, "pinwire.%u.%llu", round,
                static_cast<unsigned long long>(offset));
}

pmix::Process PmixBootstrap::process(Rank rank) const {
  pmix::Process one = me_;
  one.rank = rank;
  return one;
}

Status PmixBootstrap::join() {
  if (const auto status = library_.init(&me_, nullptr, 0); status != pmix::kSuccess) {
    return error(
        "PMIx_Init failed: %s; was this process started by mpirun or srun --mpi=pmix, and is "
        "that still alive?",
        library_.error_string(status));
  }
  watch_pmix_server(library_);
  const auto job = process(pmix::kRankWildcard);
  Answer size;
  if (const auto status = library_.get(&job, pmix::kJobSize, nullptr, 0, size.out());
      status != pmix::kSuccess)
    return failed("tell the size of the job", status);
  rank_count_ = size.number();
  if (rank_count_ == 0 || rank_count_ > kRanksMax || me_.rank >= rank_count_)
    return error("PMIx says that this is rank %u of %u", me_.rank, rank_count_);
  if (auto shared = share_key_and_environment(); !shared) return shared;
  auto settings = read_settings([this](const char* name) { return environment_.find(name); });
  if (!settings) return settings.error();
  farewell_ = std::make_unique<PmixFarewell>(
      library_, static_cast<int>(exit_timeout_s(*settings, rank_count_) * 1000));
  return success();
}

/// Rank 0 makes the key, and its environment stands for that which spawned the job.
Status PmixBootstrap::share_key_and_environment() {
  std::vector<std::byte> mine;
  if (me_.rank == 0) {
    const uint64_t key = make_job_key();
    const EnvironmentBlock block(environ);
    mine.resize(sizeof key);
    std::memcpy(mine.data(), &key, sizeof key);
    mine.insert(mine.end(), block.bytes().begin(), block.bytes().end());
  }
  auto all = all_gather(mine);
  if (!all) return all.error();
  const Bytes first = (*all)[0];
  if (first.size() < sizeof job_key_) return error("rank 0 gave no job key");
  std::memcpy(&job_key_, first.data(), sizeof job_key_);
  environment_ = EnvironmentBlock(first.subspan(sizeof job_key_));
  return success();
}

Status PmixBootstrap::fence() {
  const auto directive = collecting_fence();
  const auto status = library_.fence(nullptr, 0, &directive, 1);
  return status == pmix::kSuccess ? success() : Status(failed("pass a fence", status));
}

/// The first chunk begins with the length of the message.
Status PmixBootstrap::put_chunk(uint64_t offset, Bytes message) {
  const auto header =
      chunk_header(frame_header(FrameKind::kGather, me_.rank, round_), offset, message.size());
  std::vector<std::byte> bytes;
  if (offset == 0) {
    const auto* total = reinterpret_cast<const std::byte*>(&header.total);
    bytes.assign(total, total + sizeof header.total);
  }
  const auto part = message.subspan(offset, header.bytes);
  bytes.insert(bytes.end(), part.begin(), part.end());
  char name[64];
  chunk_name(name, round_, offset);
  pmix::Value value{};
  value.type = pmix::Type::kBytes;
  value.data.bytes.bytes = reinterpret_cast<char*>(bytes.data());
  value.data.bytes.size = bytes.size();
  const auto status = library_.put(pmix::kScopeGlobal, name, &value);
  return status == pmix::kSuccess ? success() : Status(failed("take a contribution", status));
}

Result<std::vector<std::byte>> PmixBootstrap::get_message(Rank rank) {
  const auto from = process(rank);
  std::vector<std::byte> message;
  uint64_t total = 0;
  do {
    char name[64];
    chunk_name(name, round_, message.size());
    Answer value;
    const auto status = library_.get(&from, name, nullptr, 0, value.out());
    if (status != pmix::kSuccess) return failed("give a contribution", status);
    Bytes chunk = value.bytes();
    if (message.empty()) {
      if (chunk.size() < sizeof total) return error("rank %u's contribution has no length", rank);
      std::memcpy(&total, chunk.data(), sizeof total);
      chunk = chunk.subspan(sizeof total);
    }
    if (total > kContributionBytesMax || chunk.size() > total - message.size() ||
        (chunk.empty() && message.size() < total))
      return error("rank %u's contribution has a wrong length", rank);
    message.insert(message.end(), chunk.begin(), chunk.end());
  } while (message.size() < total);
  return message;
}

Result<std::vector<std::vector<std::byte>>> PmixBootstrap::all_gather(
    std::span<const std::byte> mine) {
  if (mine.size() > kContributionBytesMax) {
    return error("rank %u wants to send %zu bytes through PMIx, and %llu are the limit", rank(),
                 mine.size(), static_cast<unsigned long long>(kContributionBytesMax));
  }
  ++round_;
  uint64_t offset = 0;
  do {
    if (auto put = put_chunk(offset, mine); !put) return put.error();
    offset += kChunkBytesMax;
  } while (offset < mine.size());
  if (const auto status = library_.commit(); status != pmix::kSuccess)
    return failed("commit a contribution", status);
  if (auto passed = fence(); !passed) return passed.error();
  std::vector<std::vector<std::byte>> all;
  for (Rank from = 0; from < rank_count_; ++from) {
    auto message = get_message(from);
    if (!message) return message.error();
    all.push_back(std::move(*message));
  }
  return all;
}

}  // namespace

bool started_by_pmix() noexcept {
  return std::getenv("PMIX_RANK") != nullptr && std::getenv("PMIX_NAMESPACE") != nullptr;
}

Result<std::unique_ptr<Bootstrap>> make_pmix_bootstrap() {
  if (::getuid() != ::geteuid() || ::getgid() != ::getegid()) {
    return error(
        "this program is set-user-id or set-group-id: it is no rank of mpirun or srun, as libpmix "
        "loads plugins that the environment and the user's files name; start it with "
        "gasnetrun_pinwire");
  }
  auto library = open_pmix_library();
  if (!library) return library.error();
  auto client = std::make_unique<PmixBootstrap>(*library);
  if (auto joined = client->join(); !joined) return joined.error();
  return std::unique_ptr<Bootstrap>(std::move(client));
}

}  // namespace pinwire
