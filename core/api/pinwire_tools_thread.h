/* pinwire_tools_thread.h: mutexes, condition variables, reader-writer locks and data of threads. Included
 * by gasnet_tools.h only.
 *
 * The locks are pthread's; where there is one thread they do nothing, but are checked in debug builds.
 * None may be taken by a thread that has it, shared between processes, or used in a signal handler. In
 * debug builds a breach of this ends the program with a sentence. */
#ifndef PINWIRE_TOOLS_THREAD_H
#define PINWIRE_TOOLS_THREAD_H

GASNETT_BEGIN_EXTERNC

/* Room for the pthread object (strict C99 declares not all of them), and who has it. All bytes zero is
 * an initialised, free lock. */
typedef struct {
  uint64_t pinwire_pthread[5];
  uint64_t pinwire_owner;
} gasnett_mutex_t;
typedef struct {
  uint64_t pinwire_pthread[6];
} gasnett_cond_t;
typedef struct {
  uint64_t pinwire_pthread[7];
  uint64_t pinwire_owner;
} gasnett_rwlock_t;
#define GASNETT_MUTEX_INITIALIZER {{0, 0, 0, 0, 0}, 0}
#define GASNETT_COND_INITIALIZER {{0, 0, 0, 0, 0, 0}}
#define GASNETT_RWLOCK_INITIALIZER {{0, 0, 0, 0, 0, 0, 0}, 0}

void gasnett_mutex_init(gasnett_mutex_t *mutex);
void gasnett_mutex_destroy(gasnett_mutex_t *mutex);
int gasnett_mutex_destroy_ignoreerr(gasnett_mutex_t *mutex);
void gasnett_mutex_lock(gasnett_mutex_t *mutex);
void gasnett_mutex_unlock(gasnett_mutex_t *mutex);
int gasnett_mutex_trylock(gasnett_mutex_t *mutex); /* 0, or EBUSY */
void gasnett_mutex_assertlocked(gasnett_mutex_t *mutex); /* assertions hold in release builds */
void gasnett_mutex_assertunlocked(gasnett_mutex_t *mutex);

/* signal, broadcast and wait with the mutex held; wait may return without a signal. */
void gasnett_cond_init(gasnett_cond_t *cond);
void gasnett_cond_destroy(gasnett_cond_t *cond);
void gasnett_cond_signal(gasnett_cond_t *cond);
void gasnett_cond_broadcast(gasnett_cond_t *cond);
void gasnett_cond_wait(gasnett_cond_t *cond, gasnett_mutex_t *mutex);

void gasnett_rwlock_init(gasnett_rwlock_t *lock);
void gasnett_rwlock_destroy(gasnett_rwlock_t *lock);
void gasnett_rwlock_rdlock(gasnett_rwlock_t *lock);
void gasnett_rwlock_wrlock(gasnett_rwlock_t *lock);
void gasnett_rwlock_unlock(gasnett_rwlock_t *lock);
int gasnett_rwlock_tryrdlock(gasnett_rwlock_t *lock); /* 0, EBUSY or EAGAIN */
int gasnett_rwlock_trywrlock(gasnett_rwlock_t *lock);
void gasnett_rwlock_assertrdlocked(gasnett_rwlock_t *lock);
void gasnett_rwlock_assertwrlocked(gasnett_rwlock_t *lock);
void gasnett_rwlock_assertlocked(gasnett_rwlock_t *lock);
void gasnett_rwlock_assertunlocked(gasnett_rwlock_t *lock);

void gasnett_sched_yield(void);
#define gasneti_sched_yield gasnett_sched_yield

/* ---- A pointer for each thread ------------------------------------------------------------------ */

#if PINWIRE_TOOLS_THREADS
#define PINWIRE_OF_THREAD __thread
#else
#define PINWIRE_OF_THREAD
#endif
/* At file scope. DEFINE in one source file; NULL in every thread at first. */
#define GASNETT_THREADKEY_DECLARE(key) extern PINWIRE_OF_THREAD void *pinwire_threadkey_##key
#define GASNETT_THREADKEY_DEFINE(key)                 \
  extern PINWIRE_OF_THREAD void *pinwire_threadkey_##key; \
  PINWIRE_OF_THREAD void *pinwire_threadkey_##key = NULL
#define gasnett_threadkey_init(key) _gasneti_threadkey_init(&pinwire_threadkey_##key)
#define gasnett_threadkey_get(key) ((void *)pinwire_threadkey_##key)
#define gasnett_threadkey_set(key, value) ((void)(pinwire_threadkey_##key = (value)))
#define gasnett_threadkey_get_noinit(key) gasnett_threadkey_get(key)
#define gasnett_threadkey_set_noinit(key, value) gasnett_threadkey_set(key, value)

/* Nothing is to be initialised; clients that silence warnings take its address. */
static inline void _gasneti_threadkey_init(void **key) { (void)key; }

GASNETT_END_EXTERNC

#endif
