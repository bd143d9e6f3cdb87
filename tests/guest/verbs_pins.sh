#!/bin/bash
# In a guest: jobs on a soft RDMA device whose segments are too large to pin. Parts are pinned on demand, evicted, and never
# more of them at once than the budget allows.
# verbs_pins.sh BUDGET LAUNCHER 'RANKS PROGRAM [ARGUMENT...]'...
budget=$1 launcher=$2
shift 2
export GASNET_DRIVER=verbs GASNET_PIN_BUDGET=$budget GASNET_QP_TIMEOUT=20 GASNET_STATSFILE=$GUEST_LOGS/stats-%

fail() { echo "verbs_pins.sh: $*" >&2; exit 1; }
stat_of() { sed -n "s/.*verbs.pin_$2 //p" "$GUEST_LOGS/stats-$1"; }
rxe-up || fail "no RDMA device"
for job in "$@"; do
  read -ra words <<< "$job"
  "$launcher" -n "${words[@]}" || fail "$job left with $?"
  for ((rank = 0; rank < words[0]; ++rank)); do
    grep -E 'verbs\.pin_' "$GUEST_LOGS/stats-$rank" || fail "rank $rank wrote no statistics"
    [[ $job != *random* ]] || [ "$(stat_of "$rank" remote_evictions)" -gt 0 ] || fail "rank $rank of $job never exhausted its share"
    [ "$(stat_of "$rank" demand_bytes_max)" -le "$(numfmt --from=iec "$budget")" ] || fail "rank $rank of $job pinned beyond the budget"
  done
done
