// Which of the three libraries this translation unit goes into. The rooms from core/ upwards are
// compiled once for each; the drivers below once for all.
#pragma once

namespace pinwire {

enum class ThreadMode { kSeq, kParsync, kPar };

inline constexpr ThreadMode kThreadMode = ThreadMode::PINWIRE_THREAD_MODE;  // from the build

/// Several client threads may be inside the library at once (C1-013). Otherwise locks and locked
/// instructions are left out.
inline constexpr bool kConcurrent = kThreadMode == ThreadMode::kPar;

/// A thread of the library is beside those of the client, whatever mode that was compiled for
/// (GASNET_DISPATCH); set before the drivers are opened, constant from then on.
inline constinit bool has_dispatcher = false;

/// Two threads may want the same thing of the library at once.
inline bool is_concurrent() noexcept { return kConcurrent || has_dispatcher; }

}  // namespace pinwire
