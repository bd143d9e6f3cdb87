/* pinwire_tools_fence.h: memory fences between the threads of a process. Included by gasnet_tools.h only. */
#ifndef PINWIRE_TOOLS_FENCE_H
#define PINWIRE_TOOLS_FENCE_H

#define gasnett_compiler_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* wmb: earlier stores are visible before later loads and stores. rmb: later loads see what others had
 * stored by then. mb: both. */
#define gasnett_local_wmb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define gasnett_local_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define gasnett_local_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)

/* Nothing where there is one thread. */
#if PINWIRE_TOOLS_THREADS
#define gasnett_weak_wmb() gasnett_local_wmb()
#define gasnett_weak_rmb() gasnett_local_rmb()
#define gasnett_weak_mb() gasnett_local_mb()
#else
#define gasnett_weak_wmb() ((void)0)
#define gasnett_weak_rmb() ((void)0)
#define gasnett_weak_mb() ((void)0)
#endif

#define gasneti_compiler_fence() gasnett_compiler_fence()
#define gasneti_local_wmb() gasnett_local_wmb()
#define gasneti_local_rmb() gasnett_local_rmb()
#define gasneti_local_mb() gasnett_local_mb()
#define gasneti_spinloop_hint() gasnett_spinloop_hint()

/* In the body of a loop that waits. */
#if defined(__x86_64__)
#define gasnett_spinloop_hint() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define gasnett_spinloop_hint() __asm__ __volatile__("yield" ::: "memory")
#else
#define gasnett_spinloop_hint() gasnett_compiler_fence()
#endif

#endif
