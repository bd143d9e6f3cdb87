#!/bin/bash
# In a guest: jobs over the verbs driver on a soft RDMA device, rxe unless $RDMA_UP says siw-up. In the last, large transfers leave the segment without a copy.
# verbs_ranks.sh LAUNCHER 'RANKS:PROGRAM [ARGUMENT...]'...
launcher=$1
shift
export GASNET_BACKTRACE_SIGNAL=SIGUSR2 GASNET_BACKTRACE_TYPE=EXECINFO
export GASNET_DRIVER=verbs GASNET_STATSFILE=$GUEST_LOGS/stats-%
export ATOMICS_PATH=nic  # soft RDMA reports IBV_ATOMIC_HCA: domains of its operations are its own
# An emulated CPU under load answers late. rxe of Linux 6.1 reads from a wrong address when it repeats a read twice, so it
# must have no reason to.
export GASNET_QP_TIMEOUT=20

fail() { echo "verbs_ranks.sh: $*" >&2; exit 1; }
${RDMA_UP:-rxe-up} || fail "no RDMA device"
for job in "$@"; do
  read -ra words <<< "${job/:/ }"
  "$launcher" -n "${words[@]}" || fail "${words[*]:1} with ${job%%:*} ranks left with $?"
done
for rank in 0 1; do
  grep -E 'verbs\.' "$GUEST_LOGS/stats-$rank" || fail "rank $rank wrote no statistics"
  in_place=$(sed -n 's/.*verbs.in_place_bytes //p' "$GUEST_LOGS/stats-$rank")
  [ "$in_place" -gt 0 ] || fail "rank $rank sent nothing in place"
  anew=$(sed -n 's/.*verbs.connections_made_anew //p' "$GUEST_LOGS/stats-$rank")
  [ "${GASNET_QP_MAX:-0}" -eq 0 ] || [ "$anew" -gt 0 ] || fail "rank $rank closed and made no connection again under a bound of $GASNET_QP_MAX"
  confirmed=$(sed -n 's/.*verbs.puts_confirmed //p' "$GUEST_LOGS/stats-$rank")
  case ${RDMA_UP:-rxe-up} in
    siw-up) [ "$confirmed" -gt 0 ] || fail "rank $rank took puts for done that had only left" ;;
    *) [ "$confirmed" -eq 0 ] || fail "rank $rank confirmed $confirmed puts of a device that tells when they are done" ;;
  esac
done
