// Allocates in each poll of the library, as a part of it would that must not: the program that
// links this with --wrap is the one that the hook has to end.
#include <cstdint>
#include <cstdlib>

extern "C" {
uint32_t __real__ZN7pinwire15poll_everythingEv() noexcept;
uint32_t __wrap__ZN7pinwire15poll_everythingEv() noexcept;
}

uint32_t __wrap__ZN7pinwire15poll_everythingEv() noexcept {
  void* volatile memory = std::malloc(1);  // volatile: the compiler leaves the two calls alone
  std::free(memory);
  return __real__ZN7pinwire15poll_everythingEv();
}
