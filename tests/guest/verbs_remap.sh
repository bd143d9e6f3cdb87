#!/bin/bash
# In a guest: memory that comes and goes under EVERYTHING, on a soft RDMA device. Memory that is kept pinned between transfers is used, and
# given up when the memory is unmapped; with GASNET_PIN_WATCH=no, in the first job alone, nothing is kept.
# verbs_remap.sh LAUNCHER REMAP 'RANKS ROUNDS'...
launcher=$1 remap=$2
shift 2
export GASNET_DRIVER=verbs GASNET_QP_TIMEOUT=20 GASNET_STATSFILE=$GUEST_LOGS/stats-%

fail() { echo "verbs_remap.sh: $*" >&2; exit 1; }
stat_of() { sed -n "s/.*verbs.pin_$2 //p" "$GUEST_LOGS/stats-$1"; }
rxe-up || fail "no RDMA device"
for watches in yes no; do
  for job in "$@"; do
    read -r ranks rounds <<< "$job"
    GASNET_PIN_WATCH=$watches "$launcher" -n "$ranks" "$remap" "$rounds" || fail "$job left with $?"
    for ((rank = 0; rank < ranks; ++rank)); do
      grep -E 'verbs\.pin_(pins|kept_)|between transfers|for each transfer' "$GUEST_LOGS/stats-$rank" || fail "rank $rank wrote no statistics"
      hits=$(stat_of "$rank" kept_hits) stale=$(stat_of "$rank" kept_stale)
      if [ $watches = yes ]; then
        [ "$hits" -gt 0 ] || fail "rank $rank of $job never used what it keeps"
        [ "$stale" -gt 0 ] || fail "rank $rank of $job never gave up what was unmapped"
      else
        [ "$hits" -eq 0 ] || fail "rank $rank of $job kept memory that it does not watch"
      fi
    done
    [ $watches = yes ] || break
  done
done
