// gasnetrun_pinwire --agent: starts ranks on its host for a launcher at the other end of its
// standard input and output. When those end, so does everything here.
#pragma once

namespace pinwire::launch {

/// The agent's exit code.
int run_agent();

}  // namespace pinwire::launch
