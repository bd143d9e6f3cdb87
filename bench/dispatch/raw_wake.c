/* The floor of an interrupt, by plain system calls: a thread sleeps in epoll_wait until it is woken, and signals
 * another that computes. It is woken by a thread of the same process, through an eventfd; or, as a peer does, another
 * process, through a pipe. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/dispatch/common.h"

/* Left by the handler for the thread that woke it; both processes see it. */
typedef struct {
  double handled_us[kCountMax];
  int was_handled;
} handled_t;
static handled_t *handled;
static void on_signal(int number) {
  (void)number;
  handled->handled_us[handled->was_handled] = now_us();
  add_one(&handled->was_handled);
}

/* The thread that sleeps. */
typedef struct {
  int fd; /* that wakes it */
  pid_t thread_id;
  int number, is_over;
} waker_t;
static void *wake(void *argument) {
  waker_t *waker = (waker_t *)argument;
  const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {EPOLLIN, {0}};
  if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, waker->fd, &event) != 0) fail("epoll");
  while (!read_now(&waker->is_over)) {
    uint64_t wakes;
    if (epoll_wait(epoll_fd, &event, 1, -1) != 1 || read(waker->fd, &wakes, sizeof wakes) < 0) continue;
    if (!read_now(&waker->is_over)) syscall(SYS_tgkill, getpid(), waker->thread_id, waker->number);
  }
  close(epoll_fd);
  return NULL;
}
static void ring(int fd) {
  const uint64_t one = 1; /* an eventfd takes no less, a pipe no offence */
  if (write(fd, &one, sizeof one) < 0) fail("wake");
}

/* Computes until `count` wakes have interrupted it, with `other` in a thread of its own, if any. */
static void compute_until_woken(int fd, int count, void *(*other)(void *)) {
  waker_t waker = {fd, (pid_t)syscall(SYS_gettid), SIGRTMAX, 0};
  struct sigaction mine;
  memset(&mine, 0, sizeof mine);
  mine.sa_handler = on_signal;
  sigaction(waker.number, &mine, NULL);
  sigset_t number, before;
  sigemptyset(&number);
  sigaddset(&number, waker.number);
  pthread_sigmask(SIG_BLOCK, &number, &before);
  pthread_t threads[2];
  if (pthread_create(&threads[0], NULL, wake, &waker) != 0) fail("threads");
  if (other != NULL && pthread_create(&threads[1], NULL, other, NULL) != 0) fail("threads");
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  while (read_now(&handled->was_handled) < count) { /* computes */
  }
  if (other != NULL) pthread_join(threads[1], NULL);
  __atomic_store_n(&waker.is_over, 1, __ATOMIC_RELEASE);
  ring(fd);
  pthread_join(threads[0], NULL);
}

/* The thread or process that wakes the other. */
static struct {
  int fd, count;
  double sent_us[kCountMax];
} sender;
static void *send_wakes(void *unused) {
  for (int i = 0; i < sender.count; ++i) {
    compute_us(300 + i % 97);
    sender.sent_us[i] = now_us();
    ring(sender.fd);
    while (read_now(&handled->was_handled) != i + 1) {
    }
  }
  return unused;
}
static void report(const char *what) {
  static double samples[kCountMax];
  for (int i = 0; i < sender.count; ++i) samples[i] = handled->handled_us[i] - sender.sent_us[i];
  report_us(what, kNeverPolls, samples, sender.count);
}
static handled_t *map_handled(int fd) {
  void *memory = mmap(NULL, sizeof *handled, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (memory == MAP_FAILED) fail("shared memory");
  return (handled_t *)memory;
}
static int shared_memory(void) {
  const int fd = memfd_create("handled", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, sizeof *handled) != 0) fail("shared memory");
  return fd;
}

void raw_wakes(int count) {
  const int memory = shared_memory();
  handled = map_handled(memory);
  sender.count = count;
  sender.fd = eventfd(0, EFD_CLOEXEC);
  compute_until_woken(sender.fd, count, send_wakes);
  report("raw_wake");
  munmap(handled, sizeof *handled);
  close(memory);
  close(sender.fd);
}

/* Rank 1 computes, rank 0 wakes it. The answer tells rank 1 that the invitation has left: no poll of its own sends it later. */
static int peer_process, peer_memory, peer_pipe;
void on_invite(gasnet_token_t token, gasnet_handlerarg_t process, gasnet_handlerarg_t memory, gasnet_handlerarg_t pipe_end) {
  peer_process = process;
  peer_memory = memory;
  peer_pipe = pipe_end;
  add_one(&news[kInvited]);
  gasnet_AMReplyShort1(token, kTell, kInvited);
}
static int open_of_peer(int fd) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", peer_process, fd);
  const int mine = open(path, O_RDWR | O_CLOEXEC);
  if (mine < 0) fail(path);
  return mine;
}
void raw_wakes_across(int count) {
  if (gasnet_mynode() == 1) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
    peer_process = getpid();
    const int both = open_of_peer(ends[0]); /* it rings itself at the end */
    const int memory = shared_memory();
    handled = map_handled(memory);
    gasnet_AMRequestShort3(0, kInvite, getpid(), memory, both);
    GASNET_BLOCKUNTIL(read_now(&news[kInvited]) != 0);
    compute_until_woken(both, count, NULL);
  } else {
    GASNET_BLOCKUNTIL(read_now(&news[kInvited]) != 0);
    const int memory = open_of_peer(peer_memory);
    handled = map_handled(memory);
    sender.count = count;
    sender.fd = open_of_peer(peer_pipe);
    send_wakes(NULL);
    report("raw_wake_across");
  }
}
