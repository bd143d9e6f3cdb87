// A rare call of the library, its start above all, that finds no memory ends the process with a
// sentence that says what to do. Its containers allocate by operator new, and the library has no
// exceptions: one of std::bad_alloc would end in std::terminate() and say nothing of limits.
//
// The handler of operator new belongs to the whole process, and the client may have one of its own.
// The library's handler is therefore for threads inside such a call alone, and other threads get
// what they would get without it: the client's handler, or the exception.
#pragma once

#include <cstdint>

namespace pinwire {

/// While one lives, its thread ends the process where operator new finds no memory. They nest.
class FatalOutOfMemory {
 public:
  FatalOutOfMemory() noexcept {
    if (depth_++ == 0) take_handler();
  }
  ~FatalOutOfMemory() { --depth_; }
  FatalOutOfMemory(const FatalOutOfMemory&) = delete;
  FatalOutOfMemory& operator=(const FatalOutOfMemory&) = delete;

 private:
  static void take_handler() noexcept;
  static void on_no_memory();

  static inline constinit thread_local uint32_t depth_ = 0;
};

}  // namespace pinwire
