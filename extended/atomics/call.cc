#include "extended/atomics/call.h"

#include <bit>
#include <cstring>

#include "core/base/check.h"

namespace pinwire {
namespace {

constexpr gex_OP_t kOnBits =
    GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR | GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR;
constexpr gex_OP_t kAtomics = (2 * GEX_OP_CAS - GEX_OP_AND) | (2 * GEX_OP_GET - GEX_OP_FAND);
constexpr gex_OP_t kOnNumbers = kAtomics & ~kOnBits;
constexpr gex_DT_t kIntegers = GEX_DT_I32 | GEX_DT_U32 | GEX_DT_I64 | GEX_DT_U64;
constexpr gex_DT_t kFloats = GEX_DT_FLT | GEX_DT_DBL;

template <typename T>
T value_of(uint64_t bits) noexcept {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <typename T, T (*kApply)(T*, gex_OP_t, T, T)>
uint64_t apply_as(const AtomicCall& call, void* at) noexcept {
  dcheck(reinterpret_cast<uintptr_t>(at) % sizeof(T) == 0, "an atomic on parts of two words", at);
  const T old = kApply(static_cast<T*>(at), call.code, value_of<T>(call.a), value_of<T>(call.b));
  uint64_t bits = 0;
  std::memcpy(&bits, &old, sizeof old);
  return bits;
}

/// The form in which a driver's operation takes the first operand.
enum class Operand : uint8_t { kAsIs, kNegated, kOne, kMinusOne };
struct DriverForm {
  gex_OP_t code;  ///< that fetches not
  gex_DT_t types;
  AtomicCode driver_code;
  Operand operand;
};
constexpr gex_DT_t kWords = GEX_DT_I64 | GEX_DT_U64;
constexpr gex_DT_t kAll = kWords | GEX_DT_DBL;  // bits are bits
constexpr DriverForm kForms[] = {
    {GEX_OP_GET, kAll, AtomicCode::kGet, Operand::kAsIs},
    {GEX_OP_SET, kAll, AtomicCode::kSwap, Operand::kAsIs},
    {GEX_OP_CAS, kAll, AtomicCode::kCompareSwap, Operand::kAsIs},
    {GEX_OP_ADD, kWords, AtomicCode::kAdd, Operand::kAsIs},
    {GEX_OP_SUB, kWords, AtomicCode::kAdd, Operand::kNegated},
    {GEX_OP_INC, kWords, AtomicCode::kAdd, Operand::kOne},
    {GEX_OP_DEC, kWords, AtomicCode::kAdd, Operand::kMinusOne},
    {GEX_OP_AND, kWords, AtomicCode::kAnd, Operand::kAsIs},
    {GEX_OP_OR, kWords, AtomicCode::kOr, Operand::kAsIs},
    {GEX_OP_XOR, kWords, AtomicCode::kXor, Operand::kAsIs},
    {GEX_OP_MIN, GEX_DT_U64, AtomicCode::kMin, Operand::kAsIs},  // drivers compare unsigned numbers
    {GEX_OP_MAX, GEX_DT_U64, AtomicCode::kMax, Operand::kAsIs},
};

constexpr uint64_t operand_of(Operand operand, uint64_t given) noexcept {
  switch (operand) {
    case Operand::kAsIs:
      return given;
    case Operand::kNegated:
      return ~given + 1;
    case Operand::kOne:
      return 1;
    case Operand::kMinusOne:
      return ~uint64_t{0};
  }
  return given;
}

}  // namespace

size_t atomic_bytes(gex_DT_t type) noexcept {
  dcheck(std::has_single_bit(type), "one type", type);
  return type & (GEX_DT_I32 | GEX_DT_U32 | GEX_DT_FLT) ? sizeof(uint32_t) : sizeof(uint64_t);
}

gex_OP_t atomic_codes(gex_DT_t type) noexcept {
  const bool is_one = type != 0 && (type & (type - 1)) == 0;
  if (is_one && (type & kIntegers) != 0) return kOnNumbers | kOnBits;
  return is_one && (type & kFloats) != 0 ? kOnNumbers : 0;
}

bool atomic_fetches(gex_OP_t code) noexcept { return PINWIRE_OP_FETCHES(code); }

uint64_t apply(const AtomicCall& call, void* at) noexcept {
  switch (call.type) {
    case GEX_DT_I32:
      return apply_as<int32_t, pinwire_atomic_I32>(call, at);
    case GEX_DT_U32:
      return apply_as<uint32_t, pinwire_atomic_U32>(call, at);
    case GEX_DT_I64:
      return apply_as<int64_t, pinwire_atomic_I64>(call, at);
    case GEX_DT_U64:
      return apply_as<uint64_t, pinwire_atomic_U64>(call, at);
    case GEX_DT_FLT:
      return apply_as<float, pinwire_atomic_FLT>(call, at);
    default:
      dcheck(call.type == GEX_DT_DBL, "no type of an atomic", call.type);
      return apply_as<double, pinwire_atomic_DBL>(call, at);
  }
}

bool as_driver_atomic(const AtomicCall& call, AtomicOperands& operands) noexcept {
  const bool has_plain_form = atomic_fetches(call.code) && call.code != GEX_OP_GET;
  const gex_OP_t code = has_plain_form ? GEX_OP_TO_NONFETCHING(call.code) : call.code;
  for (const DriverForm& form : kForms) {
    if (form.code != code || (form.types & call.type) == 0) continue;
    operands = {form.driver_code, operand_of(form.operand, call.a), 0};
    if (code == GEX_OP_CAS) operands = {form.driver_code, call.b, call.a};
    return true;
  }
  return false;
}

bool are_driver_atomics(gex_DT_t type, gex_OP_t codes, uint32_t known) noexcept {
  for (gex_OP_t left = codes; left != 0; left &= left - 1) {
    AtomicOperands operands;
    const gex_OP_t code = left & (~left + 1);
    if (!as_driver_atomic({type, code, 0, 0}, operands)) return false;
    if ((known & atomic_bit(operands.code)) == 0) return false;
  }
  return true;
}

}  // namespace pinwire
