// Mutexes, condition variables and reader-writer locks over pthread's. Programs of one thread need
// none; debug builds check there, too, that locks are used as locks.
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "core/base/log.h"
#include "core/tools/api.h"

namespace pinwire {
namespace {

static_assert(sizeof(pthread_mutex_t) <= sizeof(gasnett_mutex_t::pinwire_pthread));
static_assert(sizeof(pthread_cond_t) <= sizeof(gasnett_cond_t::pinwire_pthread));
static_assert(sizeof(pthread_rwlock_t) <= sizeof(gasnett_rwlock_t::pinwire_pthread));

pthread_mutex_t* under(gasnett_mutex_t* mutex) noexcept {
  return reinterpret_cast<pthread_mutex_t*>(mutex->pinwire_pthread);
}
pthread_cond_t* under(gasnett_cond_t* cond) noexcept {
  return reinterpret_cast<pthread_cond_t*>(cond->pinwire_pthread);
}
pthread_rwlock_t* under(gasnett_rwlock_t* lock) noexcept {
  return reinterpret_cast<pthread_rwlock_t*>(lock->pinwire_pthread);
}

/// EBUSY and EAGAIN are answers of the try forms; anything else is a broken lock.
int expect(int problem, const char* call) noexcept {
  if (problem != 0 && problem != EBUSY && problem != EAGAIN) {
    fatal("%s: %s", call, std::strerror(problem));
  }
  return problem;
}
void expect_done(int problem, const char* call) noexcept {
  if (problem != 0) fatal("%s: %s", call, std::strerror(problem));
}

// ---- Owners, in debug builds
// ---------------------------------------------------------------------

/// A thread's own number, never 0; the top bit is left for readers.
uint64_t me() noexcept { return static_cast<uint64_t>(pthread_self()) & ~(uint64_t{1} << 63); }

uint64_t owner_of(const uint64_t& word) noexcept {
  return std::atomic_ref(const_cast<uint64_t&>(word)).load(std::memory_order_relaxed);
}
void set_owner(uint64_t& word, uint64_t owner) noexcept {
  if constexpr (kDebugTools) std::atomic_ref(word).store(owner, std::memory_order_relaxed);
}

void require(bool holds, const char* sentence) noexcept {
  if (!holds) fatal("%s", sentence);
}

void check_not_mine(const uint64_t& word, const char* call) noexcept {
  if constexpr (kDebugTools) {
    if (owner_of(word) == me()) fatal("%s: this thread has the lock already", call);
  }
}
void check_mine(const uint64_t& word, const char* call) noexcept {
  if constexpr (kDebugTools) {
    if (owner_of(word) != me()) fatal("%s: this thread does not have the lock", call);
  }
}

/// Reader-writer locks that this thread holds for reading: few, and only in debug builds.
struct Readings {
  static constexpr int kMax = 64;
  const void* locks[kMax];
  int count = 0;

  bool has(const void* lock) const noexcept {
    for (int i = 0; i < count; ++i) {
      if (locks[i] == lock) return true;
    }
    return false;
  }
  void add(const void* lock) noexcept {
    if (count == kMax) fatal("one thread holds more than %d reader locks", kMax);
    locks[count++] = lock;
  }
  void remove(const void* lock) noexcept {
    for (int i = 0; i < count; ++i) {
      if (locks[i] == lock) {
        locks[i] = locks[--count];
        return;
      }
    }
  }
};
thread_local constinit Readings my_readings{};

void check_free_to_take(gasnett_rwlock_t* lock, const char* call) noexcept {
  check_not_mine(lock->pinwire_owner, call);
  if constexpr (kDebugTools) {
    if (my_readings.has(lock)) fatal("%s: this thread reads under the lock already", call);
  }
}
void note_reading(gasnett_rwlock_t* lock) noexcept {
  if constexpr (kDebugTools) my_readings.add(lock);
}

}  // namespace
}  // namespace pinwire

using namespace pinwire;

extern "C" {

void gasnett_mutex_init(gasnett_mutex_t* mutex) {
  *mutex = GASNETT_MUTEX_INITIALIZER;
  if constexpr (kThreads)
    expect_done(pthread_mutex_init(under(mutex), nullptr), "gasnett_mutex_init");
}
int gasnett_mutex_destroy_ignoreerr(gasnett_mutex_t* mutex) {
  if constexpr (kThreads) return pthread_mutex_destroy(under(mutex));
  return 0;
}
void gasnett_mutex_destroy(gasnett_mutex_t* mutex) {
  if constexpr (kDebugTools) {
    require(owner_of(mutex->pinwire_owner) == 0, "gasnett_mutex_destroy: the mutex is locked");
  }
  expect_done(gasnett_mutex_destroy_ignoreerr(mutex), "gasnett_mutex_destroy");
}
void gasnett_mutex_lock(gasnett_mutex_t* mutex) {
  check_not_mine(mutex->pinwire_owner, "gasnett_mutex_lock");
  if constexpr (kThreads) expect_done(pthread_mutex_lock(under(mutex)), "gasnett_mutex_lock");
  set_owner(mutex->pinwire_owner, me());
}
void gasnett_mutex_unlock(gasnett_mutex_t* mutex) {
  check_mine(mutex->pinwire_owner, "gasnett_mutex_unlock");
  set_owner(mutex->pinwire_owner, 0);
  if constexpr (kThreads) expect_done(pthread_mutex_unlock(under(mutex)), "gasnett_mutex_unlock");
}
int gasnett_mutex_trylock(gasnett_mutex_t* mutex) {
  check_not_mine(mutex->pinwire_owner, "gasnett_mutex_trylock");
  int problem = 0;
  if constexpr (kThreads)
    problem = expect(pthread_mutex_trylock(under(mutex)), "gasnett_mutex_trylock");
  if (problem == 0) set_owner(mutex->pinwire_owner, me());
  return problem;
}
void gasnett_mutex_assertlocked(gasnett_mutex_t* mutex) {
  check_mine(mutex->pinwire_owner, "gasnett_mutex_assertlocked");
}
void gasnett_mutex_assertunlocked(gasnett_mutex_t* mutex) {
  check_not_mine(mutex->pinwire_owner, "gasnett_mutex_assertunlocked");
}

void gasnett_cond_init(gasnett_cond_t* cond) {
  *cond = GASNETT_COND_INITIALIZER;
  if constexpr (kThreads) expect_done(pthread_cond_init(under(cond), nullptr), "gasnett_cond_init");
}
void gasnett_cond_destroy(gasnett_cond_t* cond) {
  if constexpr (kThreads) expect_done(pthread_cond_destroy(under(cond)), "gasnett_cond_destroy");
}
void gasnett_cond_signal(gasnett_cond_t* cond) {
  if constexpr (kThreads) expect_done(pthread_cond_signal(under(cond)), "gasnett_cond_signal");
}
void gasnett_cond_broadcast(gasnett_cond_t* cond) {
  if constexpr (kThreads)
    expect_done(pthread_cond_broadcast(under(cond)), "gasnett_cond_broadcast");
}
void gasnett_cond_wait(gasnett_cond_t* cond, gasnett_mutex_t* mutex) {
  check_mine(mutex->pinwire_owner, "gasnett_cond_wait");
  if constexpr (kThreads) {
    set_owner(mutex->pinwire_owner, 0);
    expect_done(pthread_cond_wait(under(cond), under(mutex)), "gasnett_cond_wait");
    set_owner(mutex->pinwire_owner, me());
  } else {
    fatal("gasnett_cond_wait: this program has one thread, so nobody would wake it");
  }
}

void gasnett_rwlock_init(gasnett_rwlock_t* lock) {
  *lock = GASNETT_RWLOCK_INITIALIZER;
  if constexpr (kThreads)
    expect_done(pthread_rwlock_init(under(lock), nullptr), "gasnett_rwlock_init");
}
void gasnett_rwlock_destroy(gasnett_rwlock_t* lock) {
  if constexpr (kThreads)
    expect_done(pthread_rwlock_destroy(under(lock)), "gasnett_rwlock_destroy");
}
int gasnett_rwlock_tryrdlock(gasnett_rwlock_t* lock) {
  check_free_to_take(lock, "gasnett_rwlock_tryrdlock");
  int problem = 0;
  if constexpr (kThreads) {
    problem = expect(pthread_rwlock_tryrdlock(under(lock)), "gasnett_rwlock_tryrdlock");
  }
  if (problem == 0) note_reading(lock);
  return problem;
}
int gasnett_rwlock_trywrlock(gasnett_rwlock_t* lock) {
  check_free_to_take(lock, "gasnett_rwlock_trywrlock");
  int problem = 0;
  if constexpr (kThreads) {
    problem = expect(pthread_rwlock_trywrlock(under(lock)), "gasnett_rwlock_trywrlock");
  }
  if (problem == 0) set_owner(lock->pinwire_owner, me());
  return problem;
}
void gasnett_rwlock_rdlock(gasnett_rwlock_t* lock) {
  check_free_to_take(lock, "gasnett_rwlock_rdlock");
  if constexpr (kThreads) {
    // EAGAIN: more readers than it can count.
    while (expect(pthread_rwlock_rdlock(under(lock)), "gasnett_rwlock_rdlock") != 0) sched_yield();
  }
  note_reading(lock);
}
void gasnett_rwlock_wrlock(gasnett_rwlock_t* lock) {
  check_free_to_take(lock, "gasnett_rwlock_wrlock");
  if constexpr (kThreads) expect_done(pthread_rwlock_wrlock(under(lock)), "gasnett_rwlock_wrlock");
  set_owner(lock->pinwire_owner, me());
}
void gasnett_rwlock_unlock(gasnett_rwlock_t* lock) {
  gasnett_rwlock_assertlocked(lock);
  if constexpr (kDebugTools) {
    if (my_readings.has(lock)) {
      my_readings.remove(lock);
    } else {
      set_owner(lock->pinwire_owner, 0);
    }
  }
  if constexpr (kThreads) expect_done(pthread_rwlock_unlock(under(lock)), "gasnett_rwlock_unlock");
}
void gasnett_rwlock_assertrdlocked(gasnett_rwlock_t* lock) {
  if constexpr (kDebugTools) {
    require(my_readings.has(lock), "gasnett_rwlock: this thread does not read under the lock");
  }
}
void gasnett_rwlock_assertwrlocked(gasnett_rwlock_t* lock) {
  check_mine(lock->pinwire_owner, "gasnett_rwlock_assertwrlocked");
}
void gasnett_rwlock_assertlocked(gasnett_rwlock_t* lock) {
  if constexpr (kDebugTools) {
    require(my_readings.has(lock) || owner_of(lock->pinwire_owner) == me(),
            "gasnett_rwlock: this thread does not have the lock");
  }
}
void gasnett_rwlock_assertunlocked(gasnett_rwlock_t* lock) {
  check_free_to_take(lock, "gasnett_rwlock_assertunlocked");
}

void gasnett_sched_yield() { sched_yield(); }

}  // extern "C"
