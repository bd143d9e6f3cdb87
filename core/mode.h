// Which of the three libraries this translation unit goes into. The drivers are compiled once for
// all; the rooms from core/ upwards once for PAR and once for SEQ and PARSYNC, but for those few
// sources that tell these apart (exact_mode.h).
#pragma once

namespace pinwire {

enum class ThreadMode { kSeq, kParsync, kPar, kSeqOrParsync };

inline constexpr ThreadMode kCompiledMode = ThreadMode::PINWIRE_THREAD_MODE;  // from the build

/// Several client threads may be inside the library at once (C1-013). Otherwise locks and locked
/// instructions are left out.
inline constexpr bool kConcurrent = kCompiledMode == ThreadMode::kPar;

/// A thread of the library is beside those of the client, whatever mode that was compiled for
/// (GASNET_DISPATCH); set before the drivers are opened, constant from then on.
inline constinit bool has_dispatcher = false;

/// Two threads may want the same thing of the library at once.
inline bool is_concurrent() noexcept { return kConcurrent || has_dispatcher; }

}  // namespace pinwire
