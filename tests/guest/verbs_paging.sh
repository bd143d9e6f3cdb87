#!/bin/bash
# In a guest: jobs of EVERYTHING over a soft RDMA device that a wrapper makes page all memory on demand (paging_device.cc).
# verbs_paging.sh LAUNCHER 'RANKS PROGRAM [ARGUMENT...]'...
launcher=$1
shift
export GASNET_DRIVER=verbs GASNET_STATSFILE=$GUEST_LOGS/stats-%
export GASNET_QP_TIMEOUT=20  # see verbs_ranks.sh

fail() { echo "verbs_paging.sh: $*" >&2; exit 1; }
# run JOB: its output, in $said
run() {
  local words
  read -ra words <<< "$1"
  said=$("$launcher" -n "${words[@]}" 2>&1) || fail "$1 left with $?: $said"
  echo "$said"
}
rxe-up || fail "no RDMA device"
for job in "$@"; do
  run "$job"
  grep -q 'paging device: 10 transfers' <<< "$said" || fail "$job paged nothing"
  for rank in 0 1; do
    pins=$(sed -n 's/.*verbs\.pin_pins //p' "$GUEST_LOGS/stats-$rank")
    [ "$pins" = 0 ] || fail "rank $rank of $job pinned on demand: ${pins:-no statistics}"
  done
done
export GASNET_VERBOSEENV=1
run "$1"
grep -q 'on-demand paging by rxe0: used for all memory' <<< "$said" || fail "GASNET_VERBOSEENV does not say that the device pages"
grep -q 'own memory is reached over verbs by the driver' <<< "$said" || fail "GASNET_VERBOSEENV does not say how memory is reached"
# Without leave: as on any other device.
GASNET_USE_ODP=no run "$1"
grep -q 'own memory is reached over verbs by messages' <<< "$said" || fail "GASNET_USE_ODP=no did not keep it from paging"
[[ $said != *'paging device'* ]] || fail "it paged all the same"
