#include "core/base/result.h"

#include <cstdarg>
#include <cstdio>

namespace pinwire {

Error error(const char* format, ...) {
  char text[1024];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return Error{text};
}

}  // namespace pinwire
