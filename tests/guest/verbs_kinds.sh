#!/bin/bash
# In a guest: jobs of other segment kinds over the verbs driver on a soft RDMA device, and their conformance cases.
# verbs_kinds.sh LAUNCHER 'RUN_CASES' RANKS:PROGRAM... -- CASES_PROGRAM...
launcher=$1 run_cases=$2
shift 2
export GASNET_DRIVER=verbs GASNET_QP_TIMEOUT=20

fail() { echo "verbs_kinds.sh: $*" >&2; exit 1; }
rxe-up || fail "no RDMA device"
while [ "$1" != -- ]; do
  "$launcher" -n "${1%%:*}" "${1#*:}" || fail "${1#*:} with ${1%%:*} ranks left with $?"
  shift
done
shift
for program in "$@"; do
  said=$($run_cases --launcher "$launcher" --program "$program" --driver verbs --mode seq --ranks 2 --alone network --only=kinds. --json "$GUEST_LOGS/kinds.json")
  echo "$said"
  if grep -q '^not ok' <<< "$said"; then fail "cases of $program failed"; fi
  grep -q '^ok' <<< "$said" || fail "no case of $program ran"
done
