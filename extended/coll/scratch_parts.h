// The scratch that clients give to teams (GX-070, EX-100), in parts: one for each operation in
// progress that wants one. Others have memory of their own, which is kept for the next ones.
#pragma once

#include "extended/coll/pipeline.h"

namespace pinwire {

/// Memory for pieces; nullptr for none.
std::byte* take_part(Member& member, Pipeline& pipeline, size_t bytes) noexcept;
void give_back_part(Member& member, Pipeline& pipeline) noexcept;

}  // namespace pinwire
