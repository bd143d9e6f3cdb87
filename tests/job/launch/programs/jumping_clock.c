// Makes the wall clock jump by a year, now back and now ahead, at each look of the program that
// preloads it: the machine's own is never set. Clocks that only go on are the kernel's.
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t jump_s(void) {
  static unsigned looks;
  const time_t year_s = 31536000;
  return __atomic_fetch_add(&looks, 1, __ATOMIC_RELAXED) % 2 ? year_s : -year_s;
}

static int is_wall_clock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int failed = (int)syscall(SYS_clock_gettime, clock, now);
  if (!failed && is_wall_clock(clock)) now->tv_sec += jump_s();
  return failed;
}

int timespec_get(struct timespec* now, int base) {
  return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  struct timespec wall;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &wall) != 0) return -1;
  now->tv_sec = wall.tv_sec;
  now->tv_usec = wall.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* result) {
  struct timespec wall;
  clock_gettime(CLOCK_REALTIME, &wall);
  if (result) *result = wall.tv_sec;
  return wall.tv_sec;
}
