#!/bin/bash
# In a guest: jobs over two soft RDMA devices, rxe or siw, large transfers over both. verbs_rails.sh KIND LAUNCHER RANKS:PROGRAM...
kind=$1 launcher=$2
shift 2
export GASNET_DRIVER=verbs GASNET_VERBS_DEVICE=${kind}0,${kind}1 GASNET_STRIPE_MIN=8K GASNET_STATSFILE=$GUEST_LOGS/stats-%
export GASNET_QP_TIMEOUT=20  # see verbs_ranks.sh

fail() { echo "verbs_rails.sh: $*" >&2; exit 1; }
"$kind-up" 2 || fail "no RDMA devices"
for job in "$@"; do "$launcher" -n "${job%%:*}" "${job#*:}" || fail "${job#*:} with ${job%%:*} ranks left with $?"; done
for rank in 0 1; do
  for rail in verbs verbs_rail1; do
    in_place=$(sed -n "s/.* $rail.in_place_bytes //p" "$GUEST_LOGS/stats-$rank")
    [ "${in_place:-0}" -gt 0 ] || fail "rank $rank sent nothing in place over $rail"
    echo "rank $rank, $rail: $in_place bytes in place"
  done
done
GASNET_VERBOSEENV=1 "$launcher" -n 2 "${1#*:}" 2>&1 | grep -E "verbs: rail [01] is ${kind}[01]:1" || fail "the map of rails is not printed"
