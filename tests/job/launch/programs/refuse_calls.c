/* Runs a program under a seccomp filter, as containers and batch systems have them:
 *   refuse_calls ERROR CALL[,CALL...] PROGRAM [ARGUMENT...]
 * Each CALL fails with ERROR (EPERM or ENOSYS), in the program and in all that it starts. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
  const char *name;
  unsigned number;
} calls[] = {{"close_range", SYS_close_range},
             {"eventfd2", SYS_eventfd2},
             {"membarrier", SYS_membarrier},
             {"memfd_create", SYS_memfd_create},
             {"pidfd_open", SYS_pidfd_open},
             {"pidfd_send_signal", SYS_pidfd_send_signal},
             {"process_vm_readv", SYS_process_vm_readv},
             {"process_vm_writev", SYS_process_vm_writev},
             {"sched_setaffinity", SYS_sched_setaffinity},
             {"setns", SYS_setns},
             {"signalfd4", SYS_signalfd4},
             {"timerfd_create", SYS_timerfd_create},
             {"userfaultfd", SYS_userfaultfd}};
enum { kCalls = sizeof calls / sizeof *calls, kRules = 2 * kCalls + 2 };

static int number_of(const char *name, unsigned *number) {
  for (unsigned i = 0; i < kCalls; ++i) {
    if (strcmp(calls[i].name, name) != 0) continue;
    *number = calls[i].number;
    return 1;
  }
  fprintf(stderr, "refuse_calls: no call %s\n", name);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 4) return 125;
  const unsigned failure = strcmp(argv[1], "EPERM") == 0 ? EPERM : ENOSYS;
  struct sock_filter rules[kRules];
  unsigned short count = 0;
  rules[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (char *name = strtok(argv[2], ","); name != NULL && count < kRules - 2; name = strtok(NULL, ",")) {
    unsigned number = 0;
    if (!number_of(name, &number)) return 125;
    rules[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
    rules[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | failure);
  }
  rules[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {count, rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("refuse_calls: no seccomp filter");
    return 77;
  }
  execvp(argv[3], argv + 3);
  perror(argv[3]);
  return 127;
}
