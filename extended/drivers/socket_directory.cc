#include "extended/drivers/socket_directory.h"

#include <unistd.h>

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/base/files/locked_dir.h"
#include "core/base/files/private_dir.h"
#include "core/base/files/remove_tree.h"
#include "core/base/log.h"
#include "core/engine/engine.h"

namespace pinwire {
namespace {

/// The first letter of a contribution tells what follows: a path, found or made, or a reason.
constexpr char kFound = 'f', kMade = 'm', kRefused = 'n';

void remove(SocketDirectory& directory) {
  if (directory.lock_fd < 0) return;
  if (auto removed = remove_tree(directory.path); !removed)
    log_warning("the directory of this host's ranks stays: %s", removed.sentence().c_str());
  ::close(std::exchange(directory.lock_fd, -1));
}

SocketDirectory make_below(const std::string& parent) {
  SocketDirectory made;
  // The directories that launchers left are theirs: they know by it whose processes to kill.
  finish_unlocked_dirs(parent, std::array{kRanksDirStart});
  auto directory = make_locked_dir(parent, kRanksDirStart);
  if (!directory) {
    made.reason = directory.sentence();
    return made;
  }
  made.path = directory->path;
  made.lock_fd = directory->lock_fd;
  // The directories above it may still be such that others can replace it.
  if (auto resolved = resolve_private_dir(made.path); !resolved) {
    made.reason = resolved.sentence();
    remove(made);
    made.path.clear();
  }
  made.of_ranks = !made.path.empty();
  return made;
}

/// The first rank of a host chooses for the others.
SocketDirectory choose(const Settings& settings) {
  if (settings.job_dir.empty()) return make_below(settings.tmp_dir);
  SocketDirectory named;
  if (auto resolved = resolve_private_dir(settings.job_dir)) {
    named.path = std::move(*resolved);
    return named;
  }
  return make_below(settings.job_dir);
}

std::string contribution_of(const SocketDirectory& mine) {
  if (mine.path.empty()) return kRefused + mine.reason;
  return (mine.of_ranks ? kMade : kFound) + mine.path;
}

Rank first_of_host(const Job& job) {
  Rank first = 0;
  while (job.ranks[first].host != job.ranks[engine.rank].host) ++first;
  return first;
}

/// Takes what the first rank of this host says; true if it says anything.
bool take(SocketDirectory& mine, std::string_view said) {
  if (said.empty()) return false;
  (said.front() == kRefused ? mine.reason : mine.path) = said.substr(1);
  mine.of_ranks = said.front() == kMade;
  return true;
}

}  // namespace

Result<SocketDirectory> agree_on_socket_directory(const Job& job) {
  SocketDirectory mine;
  if (std::strcmp(job.bootstrap->name(), "pmix") != 0) {
    mine.path = job.settings.job_dir;
    return mine;
  }
  const Rank first = first_of_host(job);
  const bool chooses = first == engine.rank;
  if (chooses) mine = choose(job.settings);
  const std::string contribution = chooses ? contribution_of(mine) : "";
  auto all = job.bootstrap->all_gather(std::as_bytes(std::span(contribution)));
  if (!all) {
    remove(mine);
    return all.error();
  }
  for (Rank rank = 0; rank < all->size(); ++rank) {
    const auto& bytes = (*all)[rank];
    const std::string_view said(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    mine.is_any_of_ranks = mine.is_any_of_ranks || said.starts_with(kMade);
    if (rank == first && !chooses && !take(mine, said))
      return error("rank %u names no directory for the ranks of its host", rank);
  }
  return mine;
}

Status leave_socket_directory(const Job& job, SocketDirectory& directory) {
  Status met = directory.is_any_of_ranks ? job.bootstrap->barrier() : success();
  remove(directory);
  return met;
}

}  // namespace pinwire
