// Where a signal may run handlers: in the text of the client and of this library. The C library,
// the dynamic linker, the C++ library and allocators hold locks of their own while they run, and a
// handler that interrupts one of them and calls it again waits for ever (PA-020, problem 3).
//
// The client's text is that of the program, of the object that holds this library, and of each
// object that registers a handler; an object that defines malloc is none, as its allocator's
// functions cannot be told from the client's. In a static program that is all there is. An object
// that a program opens (a plug-in) and that registers no handler is foreign: the library cannot
// tell it from one with locks of its own, and the dispatcher runs the handlers of what arrives
// while it computes, which is slower and never wrong. The C library's objects of mathematics take
// no locks, and are the client's.
#pragma once

#include <cstdint>

namespace pinwire {

/// Adds the object that `function` lies in, unless it defines malloc. False: the object is not the
/// client's, or there is no memory. It takes locks of the dynamic linker.
bool add_client_text(const void* function) noexcept;

/// Adds libm and libmvec, where they are loaded: a client that computes is in them for long.
/// Functions that they call besides (qsort, fputs) lie in the C library, and are foreign.
void add_mathematics() noexcept;

/// Whether an instruction is the client's. In signal context.
bool is_client_text(uintptr_t instruction) noexcept;

}  // namespace pinwire
