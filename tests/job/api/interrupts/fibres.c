/* Messages interrupt a client on whatever stack it computes: a fibre with hardly any room, beside a
 * page that nobody may touch, and an alternate stack of its own for signals that is as small as the
 * kernel lets it be (PA-052). Their handlers use a lot of stack. For GASNET_DISPATCH=interrupt and
 * watchdog. */
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../job_test.h"

enum { kMessages = 200, kPatienceS = 60, kFibreBytes = 4096, kHandlerBytes = 500000, kStages = 4, kSignalStackBytes = 65536 };

static int handled, wanted, client_signals_too, client_signals;
static ucontext_t thread_context, fibre_context;

static void on_message(gasnet_token_t token) {
  volatile unsigned char room[kHandlerBytes];
  (void)token;
  for (size_t at = 0; at < sizeof room; at += 1024) room[at] = (unsigned char)at;
  if (read_now(&client_signals_too)) raise(SIGUSR2);
  __atomic_fetch_add(&handled, 1, __ATOMIC_RELEASE);
}

/* Its last page may not be touched. */
static void *guarded(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *at = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(at != MAP_FAILED && mprotect(at, page, PROT_NONE) == 0);
  return at + page;
}

static int is_late;
/* Without a call of the library, and with hardly any stack. */
static void compute(void) {
  while (read_now(&handled) < wanted && !is_late) {
    for (volatile int i = 0; i < 100000; i = i + 1) {
    }
  }
}
static void on_alarm(int number) {
  (void)number;
  is_late = 1;
}

/* Such as a profiler's: it, too, is on the client's alternate stack. */
static void on_client_signal(int number) {
  volatile unsigned char room[2000];
  (void)number;
  for (size_t at = 0; at < sizeof room; ++at) room[at] = 0x5a;
  __atomic_fetch_add(&client_signals, 1, __ATOMIC_RELEASE);
}

static void compute_in_fibre(void) {
  EXPECT(getcontext(&fibre_context) == 0);
  fibre_context.uc_stack.ss_sp = guarded(kFibreBytes);
  fibre_context.uc_stack.ss_size = kFibreBytes;
  fibre_context.uc_link = &thread_context;
  makecontext(&fibre_context, compute, 0);
  EXPECT(swapcontext(&thread_context, &fibre_context) == 0);
}

static void set_signal_stack(size_t room) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t bytes = ((size_t)sysconf(_SC_MINSIGSTKSZ) + room + page - 1) / page * page;
  stack_t own = {.ss_sp = guarded(bytes), .ss_size = bytes};
  EXPECT(sigaltstack(&own, NULL) == 0);
}

static void signal_the_client(void) {
  set_signal_stack(kSignalStackBytes);
  const struct sigaction own = {.sa_handler = on_client_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
  EXPECT(sigaction(SIGUSR2, &own, NULL) == 0);
  __atomic_store_n(&client_signals_too, 1, __ATOMIC_RELEASE);
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_message}};
  start_job(&argc, &argv, table, 1, 1 << 20);
  const struct sigaction late = {.sa_handler = on_alarm};
  EXPECT(sigaction(SIGALRM, &late, NULL) == 0);
  for (int stage = 1; stage <= kStages; ++stage) {
    wanted += kMessages;
    if (me == 0 && stage == 2) set_signal_stack(1024);
    if (me == 0 && stage == kStages) signal_the_client();
    barrier();
    const struct timespec pause = {0, 100000};
    for (int i = 0; me == 1 && i < kMessages; ++i) {
      gasnet_AMRequestShort0(0, 200);
      nanosleep(&pause, NULL);
    }
    if (me == 0) {
      alarm(kPatienceS);
      stage == kStages ? compute() : compute_in_fibre();
      alarm(0);
      EXPECT(!is_late);
      EXPECT(stage != kStages || read_now(&client_signals) > 0);
    }
    barrier();
  }
  end_job("fibres");
  return 1;
}
