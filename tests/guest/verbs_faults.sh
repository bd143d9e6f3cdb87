#!/bin/bash
# In a guest: what the user sees when a device, a port or a rank goes away under a job over verbs. verbs_faults.sh LAUNCHER CHATTER
launcher=$1 chatter=$2
export GASNET_DRIVER=verbs GASNET_BACKTRACE=no
# rxe gives a connection up after 7.5 s: 4.096 us * 2^18 * 7 tries.
export GASNET_QP_TIMEOUT=18

fail() { echo "verbs_faults.sh: $*" >&2; exit 1; }

# provoke NAME WHAT-THE-USER-MUST-SEE COMMAND: breaks a running job of two ranks.
provoke() {
  local log=$GUEST_LOGS/fault-$1 patience=600
  "$launcher" -n 2 "$chatter" >"$log" 2>&1 &
  local job=$!
  until grep -q chatting "$log"; do
    sleep 0.1
    [ $((patience -= 1)) -gt 0 ] || { cat "$log"; fail "$1: the job does not start"; }
  done
  sleep 1
  eval "$3" || fail "$1: $3 left with $?"
  wait $job
  local code=$?
  echo "== $1: $3"
  echo "== the job left with $code and said:"
  grep -v chatting "$log"
  [ $code != 0 ] || fail "$1: the job left with 0"
  grep -Eq "$2" "$log" || fail "$1: nobody said \"$2\""
}

rxe-up 2 || fail "no RDMA devices"
export GASNET_VERBS_DEVICE=rxe0
provoke killed_rank 'rank 1.*(signal 9|SIGKILL|Killed)' 'kill -9 $(pgrep -P $job -f chatter | tail -1)'
provoke port_down 'rxe0 port 1.*: the port went down' 'ip link set dummy0 down'
ip link set dummy0 up
export GASNET_VERBS_DEVICE=rxe0,rxe1
provoke rail_down 'rxe1 port 1.*: the port went down' 'ip link set dummy1 down'
