// How the two processes of a test meet before they have anything better: one TCP connection.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace pinwire::test {

class TcpPeer {
 public:
  /// Rank 0 listens, rank 1 connects to rank 0's `address`, which may appear later than it asks.
  TcpPeer(uint32_t rank, const char* address) {
    sockaddr_in name{
        .sin_family = AF_INET, .sin_port = htons(kPort), .sin_addr = {}, .sin_zero = {}};
    expect(inet_pton(AF_INET, address, &name.sin_addr) == 1, "is no IPv4 address");
    auto* const any = reinterpret_cast<sockaddr*>(&name);
    if (rank == 0) {
      const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const int yes = 1;
      setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
      expect(bind(listener, any, sizeof name) == 0 && listen(listener, 1) == 0, "bind");
      fd_ = accept(listener, nullptr, nullptr);
      expect(fd_ >= 0, "accept");
      close(listener);
      return;
    }
    for (;; usleep(kRetryUs)) {  // the caller's time-out ends a search for a peer that never comes
      fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (connect(fd_, any, sizeof name) == 0) return;
      close(fd_);
    }
  }
  ~TcpPeer() { close(fd_); }
  TcpPeer(const TcpPeer&) = delete;
  TcpPeer& operator=(const TcpPeer&) = delete;

  /// Gives `mine`, returns the peer's: also a barrier.
  template <typename T>
  T exchange(const T& mine) {
    T theirs;
    expect(send(fd_, &mine, sizeof mine, MSG_NOSIGNAL) == sizeof mine, "send");
    expect(recv(fd_, &theirs, sizeof theirs, MSG_WAITALL) == sizeof theirs, "the peer is gone");
    return theirs;
  }

 private:
  static constexpr uint16_t kPort = 7471;
  static constexpr useconds_t kRetryUs = 100'000;

  static void expect(bool holds, const char* what) {
    if (holds) return;
    std::perror(what);
    std::exit(1);
  }

  int fd_ = -1;
};

}  // namespace pinwire::test
