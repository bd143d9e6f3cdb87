#include <gtest/gtest.h>
#include <pthread.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "gasnet_tools.h"

namespace {

constexpr bool kThreads = PINWIRE_TOOLS_THREADS != 0;

/// The initialisers are all zeros: pthread's must be, too.
TEST(Locks, ZerosAreInitialisedPthreadObjects) {
  const pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
  const pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  const char zeros[256] = {};
  EXPECT_EQ(std::memcmp(&mutex, zeros, sizeof mutex), 0);
  EXPECT_EQ(std::memcmp(&cond, zeros, sizeof cond), 0);
  EXPECT_EQ(std::memcmp(&lock, zeros, sizeof lock), 0);
}

TEST(Locks, MutexIsTakenOnce) {
  static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  gasnett_mutex_lock(&mutex);
  gasnett_mutex_assertlocked(&mutex);
  if (kThreads) {
    int result = 0;
    std::thread([&] { result = gasnett_mutex_trylock(&mutex); }).join();
    EXPECT_EQ(result, EBUSY);
  }
  gasnett_mutex_unlock(&mutex);
  gasnett_mutex_assertunlocked(&mutex);
  EXPECT_EQ(gasnett_mutex_trylock(&mutex), 0);
  gasnett_mutex_unlock(&mutex);
  gasnett_mutex_destroy(&mutex);
}

TEST(Locks, CondHandsOverBetweenThreads) {
  if (!kThreads) GTEST_SKIP() << "one thread";
  static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  static gasnett_cond_t cond = GASNETT_COND_INITIALIZER;
  int turn = 0;
  const auto pass = [&](int mine) {
    for (int round = 0; round < 1000; ++round) {
      gasnett_mutex_lock(&mutex);
      while (turn % 2 != mine) gasnett_cond_wait(&cond, &mutex);
      ++turn;
      if (round % 2 == 0)
        gasnett_cond_signal(&cond);
      else
        gasnett_cond_broadcast(&cond);
      gasnett_mutex_unlock(&mutex);
    }
  };
  std::thread other([&] { pass(1); });
  pass(0);
  other.join();
  EXPECT_EQ(turn, 2000);
}

TEST(Locks, CondWithoutAnotherThreadWouldWaitForEver) {
  if (kThreads) GTEST_SKIP() << "several threads";
  gasnett_mutex_t mutex;
  gasnett_cond_t cond;
  gasnett_mutex_init(&mutex);
  gasnett_cond_init(&cond);
  gasnett_mutex_lock(&mutex);
  EXPECT_DEATH(gasnett_cond_wait(&cond, &mutex), "one thread");
}

TEST(Locks, ReadersShareAndWritersDoNot) {
  static gasnett_rwlock_t lock = GASNETT_RWLOCK_INITIALIZER;
  const auto elsewhere = [](int (*attempt)(gasnett_rwlock_t*)) {
    int result = 0;
    std::thread([&] {
      result = attempt(&lock);
      if (result == 0) gasnett_rwlock_unlock(&lock);
    }).join();
    return result;
  };
  gasnett_rwlock_rdlock(&lock);
  gasnett_rwlock_assertrdlocked(&lock);
  if (kThreads) {
    EXPECT_EQ(elsewhere(gasnett_rwlock_tryrdlock), 0);
    EXPECT_EQ(elsewhere(gasnett_rwlock_trywrlock), EBUSY);
  }
  gasnett_rwlock_unlock(&lock);
  gasnett_rwlock_assertunlocked(&lock);
  gasnett_rwlock_wrlock(&lock);
  gasnett_rwlock_assertwrlocked(&lock);
  if (kThreads) {
    EXPECT_EQ(elsewhere(gasnett_rwlock_tryrdlock), EBUSY);
  }
  gasnett_rwlock_unlock(&lock);
  gasnett_rwlock_destroy(&lock);
}

TEST(LocksDeathTest, MisuseIsFatalInDebugBuilds) {
#ifdef GASNET_DEBUG
  gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  EXPECT_DEATH(gasnett_mutex_unlock(&mutex),
               "gasnett_mutex_unlock: this thread does not have the lock");
  EXPECT_DEATH(gasnett_mutex_assertlocked(&mutex), "does not have the lock");
  gasnett_mutex_lock(&mutex);
  EXPECT_DEATH(gasnett_mutex_lock(&mutex), "gasnett_mutex_lock: this thread has the lock already");
  EXPECT_DEATH(gasnett_mutex_trylock(&mutex), "has the lock already");
  EXPECT_DEATH(gasnett_mutex_assertunlocked(&mutex), "has the lock already");
  EXPECT_DEATH(gasnett_mutex_destroy(&mutex), "the mutex is locked");
  gasnett_mutex_unlock(&mutex);
  gasnett_rwlock_t lock = GASNETT_RWLOCK_INITIALIZER;
  EXPECT_DEATH(gasnett_rwlock_unlock(&lock), "does not have the lock");
  gasnett_rwlock_rdlock(&lock);
  EXPECT_DEATH(gasnett_rwlock_wrlock(&lock), "reads under the lock already");
  EXPECT_DEATH(gasnett_rwlock_assertwrlocked(&lock), "does not have the lock");
  gasnett_rwlock_unlock(&lock);
#else
  gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  gasnett_mutex_assertlocked(&mutex);  // without effect
#endif
}

GASNETT_THREADKEY_DECLARE(test_key);
GASNETT_THREADKEY_DEFINE(test_key);

TEST(Locks, KeysAreOfEachThread) {
  int mine = 0;
  EXPECT_EQ(gasnett_threadkey_get(test_key), nullptr);
  gasnett_threadkey_init(test_key);
  gasnett_threadkey_set(test_key, &mine);
  EXPECT_EQ(gasnett_threadkey_get_noinit(test_key), &mine);
  void* theirs = &mine;
  std::thread([&] { theirs = gasnett_threadkey_get(test_key); }).join();
  EXPECT_EQ(theirs, kThreads ? nullptr : &mine);
  gasnett_threadkey_set_noinit(test_key, nullptr);
}

}  // namespace
