#include "bench/flood/loops/loops.h"

#include <gasnet.h>

#include <algorithm>

#include "bench/flood/loops/messages.h"

namespace pinwire::flood {
namespace {

/// Each operation really happens: the compiler may neither merge nor move copies that it inlined.
inline void compiler_barrier() noexcept { asm volatile("" ::: "memory"); }

// kBytes 0: the size is only known at run time, and the bulk forms are used.
template <uint64_t kBytes>
struct Transfer {
  static uint64_t bytes(const Path& path) { return kBytes != 0 ? kBytes : path.bytes; }
  static void put(const Path& p) {
    if constexpr (kBytes != 0) {
      gasnet_put(p.partner, p.remote_sink, p.source, kBytes);
    } else {
      gasnet_put_bulk(p.partner, p.remote_sink, p.source, p.bytes);
    }
  }
  static void get(const Path& p) {
    if constexpr (kBytes != 0) {
      gasnet_get(p.sink, p.partner, p.remote_source, kBytes);
    } else {
      gasnet_get_bulk(p.sink, p.partner, p.remote_source, p.bytes);
    }
  }
  static gasnet_handle_t put_nb(const Path& p) {
    if constexpr (kBytes != 0) {
      return gasnet_put_nb(p.partner, p.remote_sink, p.source, kBytes);
    } else {
      return gasnet_put_nb_bulk(p.partner, p.remote_sink, p.source, p.bytes);
    }
  }
  static gasnet_handle_t get_nb(const Path& p) {
    if constexpr (kBytes != 0) {
      return gasnet_get_nb(p.sink, p.partner, p.remote_source, kBytes);
    } else {
      return gasnet_get_nb_bulk(p.sink, p.partner, p.remote_source, p.bytes);
    }
  }
  static void put_nbi(const Path& p) {
    if constexpr (kBytes != 0) {
      gasnet_put_nbi(p.partner, p.remote_sink, p.source, kBytes);
    } else {
      gasnet_put_nbi_bulk(p.partner, p.remote_sink, p.source, p.bytes);
    }
  }
  static void get_nbi(const Path& p) {
    if constexpr (kBytes != 0) {
      gasnet_get_nbi(p.sink, p.partner, p.remote_source, kBytes);
    } else {
      gasnet_get_nbi_bulk(p.sink, p.partner, p.remote_source, p.bytes);
    }
  }
};

template <Operation kOp>
void send_ping(const Path& p) {
  ++issued.requests;
  if constexpr (kOp == Operation::kAmShort) {
    gasnet_AMRequestShort0(p.partner, kPingShort);
  } else if constexpr (kOp == Operation::kAmMedium) {
    gasnet_AMRequestMedium0(p.partner, kPingMedium, p.source, p.bytes);
  } else {
    const auto landing = reinterpret_cast<uintptr_t>(p.reply_sink);
    gasnet_AMRequestLong2(p.partner, kPingLong, p.source, p.bytes, p.remote_sink,
                          static_cast<gasnet_handlerarg_t>(landing >> 32),
                          static_cast<gasnet_handlerarg_t>(landing & UINT32_MAX));
  }
}

/// `answered`: the partner replies to each (a Short reply), so that a window can be kept.
template <Operation kOp>
void send_message(const Path& p, bool answered) {
  ++issued.requests;
  if constexpr (kOp == Operation::kAmShort) {
    gasnet_AMRequestShort0(p.partner, answered ? kAskedShort : kOneWayShort);
  } else if constexpr (kOp == Operation::kAmMedium) {
    gasnet_AMRequestMedium0(p.partner, answered ? kAskedPayload : kOneWayPayload, p.source,
                            p.bytes);
  } else {
    gasnet_AMRequestLong0(p.partner, answered ? kAskedPayload : kOneWayPayload, p.source, p.bytes,
                          p.remote_sink);
  }
}

/// PA-009: one operation, and wait for it.
template <Operation kOp, uint64_t kBytes>
class Pingpong {
 public:
  explicit Pingpong(const Path&) {}
  void operation(const Path& p) {
    using T = Transfer<kBytes>;
    if constexpr (kOp == Operation::kPutBlocking) {
      T::put(p);
    } else if constexpr (kOp == Operation::kGetBlocking) {
      T::get(p);
    } else if constexpr (kOp == Operation::kPutNb) {
      gasnet_wait_syncnb(T::put_nb(p));
    } else if constexpr (kOp == Operation::kGetNb) {
      gasnet_wait_syncnb(T::get_nb(p));
    } else if constexpr (kOp == Operation::kPutNbi) {
      T::put_nbi(p);
      gasnet_wait_syncnbi_all();
    } else if constexpr (kOp == Operation::kGetNbi) {
      T::get_nbi(p);
      gasnet_wait_syncnbi_all();
    } else {
      send_ping<kOp>(p);
      ++pongs_;
      GASNET_BLOCKUNTIL(mail.pongs.get() == pongs_);
    }
  }
  void finish(const Path&) {}

 private:
  uint64_t pongs_ = mail.pongs.get();
};

/// PA-010, blocking: nothing overlaps, by their nature; there for contrast.
template <Operation kOp, uint64_t kBytes, bool kWindowed>
class Flood : public Pingpong<kOp, kBytes> {
 public:
  using Pingpong<kOp, kBytes>::Pingpong;
};

/// PA-010, explicit handles: an array of them, synchronised at the end, or a ring of `window`.
template <Operation kOp, uint64_t kBytes, bool kWindowed>
requires(kOp == Operation::kPutNb || kOp == Operation::kGetNb) class Flood<kOp, kBytes, kWindowed> {
 public:
  explicit Flood(const Path& p) : slots_(kWindowed ? p.window : kHandlesMax) {
    if constexpr (kWindowed) std::fill_n(p.handles, slots_, GASNET_INVALID_HANDLE);
  }
  void operation(const Path& p) {
    if (slot_ == slots_) {
      if constexpr (!kWindowed) gasnet_wait_syncnb_all(p.handles, slots_);
      slot_ = 0;
    }
    gasnet_handle_t& handle = p.handles[slot_++];
    if constexpr (kWindowed) gasnet_wait_syncnb(handle);
    handle = kOp == Operation::kPutNb ? Transfer<kBytes>::put_nb(p) : Transfer<kBytes>::get_nb(p);
  }
  void finish(const Path& p) { gasnet_wait_syncnb_all(p.handles, kWindowed ? slots_ : slot_); }

 private:
  uint32_t slots_;
  uint32_t slot_ = 0;
};

/// PA-010, implicit handles: synchronised together, at the end or after `window` of them.
template <Operation kOp, uint64_t kBytes, bool kWindowed>
requires(kOp == Operation::kPutNbi ||
         kOp == Operation::kGetNbi) class Flood<kOp, kBytes, kWindowed> {
 public:
  explicit Flood(const Path& p) : window_(kWindowed ? p.window : kHandlesMax) {}
  void operation(const Path& p) {
    if (open_ == window_) finish(p);
    ++open_;
    if constexpr (kOp == Operation::kPutNbi) {
      Transfer<kBytes>::put_nbi(p);
    } else {
      Transfer<kBytes>::get_nbi(p);
    }
  }
  void finish(const Path&) {
    gasnet_wait_syncnbi_all();
    open_ = 0;
  }

 private:
  uint32_t window_;
  uint32_t open_ = 0;
};

/// PA-010, AMs: one way, and the receiver's count confirms them at the end; with a window each is
/// answered. AMs are unordered (C1-116), so the count is asked for until all are in.
template <Operation kOp, uint64_t kBytes, bool kWindowed>
requires(is_am(kOp)) class Flood<kOp, kBytes, kWindowed> {
 public:
  explicit Flood(const Path& p) : window_(p.window) {}
  void operation(const Path& p) {
    if constexpr (kWindowed) {
      GASNET_BLOCKUNTIL(sent_ - mail.pongs.get() < window_);
      ++sent_;
    }
    send_message<kOp>(p, kWindowed);
  }
  void finish(const Path& p) {
    if constexpr (kWindowed) GASNET_BLOCKUNTIL(mail.pongs.get() == sent_);
    while (ask_count(p.partner) != issued.requests) {
    }
  }

 private:
  uint32_t window_;
  uint64_t sent_ = mail.pongs.get();
};

template <typename Work>
double timed(Path path, uint64_t iterations) {
  Work work(path);
  const double begin = now_seconds();
  for (uint64_t i = 0; i < iterations; ++i) {
    work.operation(path);
    compiler_barrier();
  }
  work.finish(path);
  return now_seconds() - begin;
}

template <typename Work>
void sampled(Path path, uint64_t iterations, Sampler& sampler) {
  Work work(path);
  const uint32_t batch = sampler.batch();
  for (uint64_t done = 0; done < iterations; done += batch) {
    sampler.begin();
    for (uint32_t i = 0; i < batch; ++i) {
      work.operation(path);
      compiler_barrier();
    }
    sampler.end();
  }
  work.finish(path);
}

template <typename Work>
constexpr Loops kLoopsOf = {timed<Work>, sampled<Work>};

template <Operation kOp, uint64_t kBytes>
Loops pick_pattern(const Measurement& m) {
  if (m.test == Pattern::kPingpong) return kLoopsOf<Pingpong<kOp, kBytes>>;
  if (m.depth == 0) return kLoopsOf<Flood<kOp, kBytes, false>>;
  return kLoopsOf<Flood<kOp, kBytes, true>>;
}

template <Operation kOp>
Loops pick_size(const Measurement& m) {
  if constexpr (!is_am(kOp)) {
    if (m.bytes == 1) return pick_pattern<kOp, 1>(m);
    if (m.bytes == 8) return pick_pattern<kOp, 8>(m);
  }
  return pick_pattern<kOp, 0>(m);
}

}  // namespace

Loops loops_of(const Measurement& m) {
  switch (m.operation) {
    case Operation::kPutBlocking:
      return pick_size<Operation::kPutBlocking>(m);
    case Operation::kGetBlocking:
      return pick_size<Operation::kGetBlocking>(m);
    case Operation::kPutNb:
      return pick_size<Operation::kPutNb>(m);
    case Operation::kGetNb:
      return pick_size<Operation::kGetNb>(m);
    case Operation::kPutNbi:
      return pick_size<Operation::kPutNbi>(m);
    case Operation::kGetNbi:
      return pick_size<Operation::kGetNbi>(m);
    case Operation::kAmShort:
      return pick_size<Operation::kAmShort>(m);
    case Operation::kAmMedium:
      return pick_size<Operation::kAmMedium>(m);
    case Operation::kAmLong:
      break;
  }
  return pick_size<Operation::kAmLong>(m);
}

}  // namespace pinwire::flood
