// gasnetex.h: names and lists as text, for what clients print (pinwire_ex_format.h).
#include <cstdio>
#include <cstring>
#include <string>

#include "extended/state/objects.h"

using namespace pinwire;

namespace {

struct Name {
  uint32_t bit;
  const char* text;
};
#define NAME(constant) \
  Name { constant, #constant }
constexpr Name kTypes[] = {NAME(GEX_DT_I32), NAME(GEX_DT_U32), NAME(GEX_DT_I64), NAME(GEX_DT_U64),
                           NAME(GEX_DT_FLT), NAME(GEX_DT_DBL), NAME(GEX_DT_USER)};
constexpr Name kOps[] = {
    NAME(GEX_OP_ADD),  NAME(GEX_OP_SUB),  NAME(GEX_OP_MULT),   NAME(GEX_OP_MIN),
    NAME(GEX_OP_MAX),  NAME(GEX_OP_INC),  NAME(GEX_OP_DEC),    NAME(GEX_OP_AND),
    NAME(GEX_OP_OR),   NAME(GEX_OP_XOR),  NAME(GEX_OP_SET),    NAME(GEX_OP_CAS),
    NAME(GEX_OP_FADD), NAME(GEX_OP_FSUB), NAME(GEX_OP_FMULT),  NAME(GEX_OP_FMIN),
    NAME(GEX_OP_FMAX), NAME(GEX_OP_FINC), NAME(GEX_OP_FDEC),   NAME(GEX_OP_FAND),
    NAME(GEX_OP_FOR),  NAME(GEX_OP_FXOR), NAME(GEX_OP_SWAP),   NAME(GEX_OP_FCAS),
    NAME(GEX_OP_GET),  NAME(GEX_OP_USER), NAME(GEX_OP_USER_NC)};
constexpr Name kTokenInfos[] = {NAME(GEX_TI_SRCRANK), NAME(GEX_TI_EP), NAME(GEX_TI_ENTRY),
                                NAME(GEX_TI_IS_REQ), NAME(GEX_TI_IS_LONG)};
#undef NAME

template <size_t kCount>
size_t format_set(char* buf, uint32_t set, const Name (&names)[kCount]) {
  std::string text;
  const auto add = [&text](const std::string& word) { text += (text.empty() ? "" : "|") + word; };
  for (const Name& name : names) {
    if ((set & name.bit) == name.bit) {
      add(name.text);
      set &= ~name.bit;
    }
  }
  if (set != 0 || text.empty()) add(std::to_string(set));
  if (buf != nullptr) std::memcpy(buf, text.c_str(), text.size() + 1);
  return text.size() + 1;
}

/// Characters of one number or address, with what stands around it.
constexpr size_t kNumberBytes = 32;

/// Writes one word after the other; the room was asked for before.
class TextLine {
 public:
  explicit TextLine(char* buf) noexcept : at_(buf) {}
  template <typename... Values>
  void add(const char* format, Values... values) noexcept {
    at_ += std::snprintf(at_, 4 * kNumberBytes, format, values...);
  }
  template <typename T>
  void add_list(const char* name, const char* format, const T* values, size_t count) noexcept {
    add(" %s={", name);
    for (size_t i = 0; i < count; ++i) add(format, i == 0 ? "" : ",", values[i]);
    add("}");
  }

 private:
  char* at_;
};

}  // namespace

extern "C" {

size_t gasnett_format_dt(char* buf, gex_DT_t dt) { return format_set(buf, dt, kTypes); }
size_t gasnett_format_op(char* buf, gex_OP_t op) { return format_set(buf, op, kOps); }
size_t gasnett_format_ti(char* buf, gex_TI_t ti) { return format_set(buf, ti, kTokenInfos); }

size_t gasnett_format_memveclist_bufsz(size_t count) { return (2 * count + 4) * kNumberBytes; }
size_t gasnett_format_memveclist(char* buf, size_t count, gex_Memvec_t const* list) {
  size_t total = 0;
  TextLine line(buf);
  line.add("%zu regions:", count);
  for (size_t i = 0; i < count; ++i) {
    line.add(" %p+%zu", list[i].gex_addr, list[i].gex_len);
    total += list[i].gex_len;
  }
  return total;
}

size_t gasnett_format_addrlist_bufsz(size_t count) { return (count + 4) * kNumberBytes; }
size_t gasnett_format_addrlist(char* buf, size_t count, void* const* list, size_t len) {
  TextLine line(buf);
  line.add("%zu regions of %zu bytes:", count, len);
  for (size_t i = 0; i < count; ++i) line.add(" %p", list[i]);
  return count * len;
}

size_t gasnett_format_putsgets_bufsz(size_t stridelevels) {
  return (3 * stridelevels + 16) * kNumberBytes;
}
size_t gasnett_format_putsgets(char* buf, void*, gex_TM_t, gex_Rank_t rank, void* dstaddr,
                               const ptrdiff_t dststrides[], void* srcaddr,
                               const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[],
                               size_t stridelevels) {
  size_t total = elemsz;
  for (size_t level = 0; level < stridelevels; ++level) total *= count[level];
  TextLine line(buf);
  line.add("rank=%u dst=%p src=%p", rank, dstaddr, srcaddr);
  line.add(" elemsz=%zu total=%zu levels=%zu", elemsz, total, stridelevels);
  line.add_list("dststrides", "%s%td", dststrides, stridelevels);
  line.add_list("srcstrides", "%s%td", srcstrides, stridelevels);
  line.add_list("count", "%s%zu", count, stridelevels);
  return total;
}

}  // extern "C"
