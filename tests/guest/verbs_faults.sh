#!/bin/bash
# In a guest: what the user sees when a device, a port or a rank goes away under a job over verbs. verbs_faults.sh LAUNCHER CHATTER
launcher=$1 chatter=$2
export GASNET_DRIVER=verbs GASNET_BACKTRACE=no
# rxe gives a connection up after 7.5 s: 4.096 us * 2^18 * 7 tries.
export GASNET_QP_TIMEOUT=18

fail() { echo "verbs_faults.sh: $*" >&2; exit 1; }

# disturb NAME COMMAND [SECONDS]: does so to a running job of two ranks, and waits for its end.
disturb() {
  local log=$GUEST_LOGS/fault-$1 patience=600
  "$launcher" -n 2 "$chatter" $3 >"$log" 2>&1 &
  local job=$!
  until grep -q chatting "$log"; do
    sleep 0.1
    [ $((patience -= 1)) -gt 0 ] || { cat "$log"; fail "$1: the job does not start"; }
  done
  sleep 1
  eval "$2" || fail "$1: $2 left with $?"
  wait $job
  code=$?
  echo "== $1: $2"
  echo "== the job left with $code and said:"
  grep -v chatting "$log"
}

# provoke NAME WHAT-THE-USER-MUST-SEE COMMAND: breaks a job.
provoke() {
  local log=$GUEST_LOGS/fault-$1
  disturb "$1" "$3"
  [ $code != 0 ] || fail "$1: the job left with 0"
  grep -Eq "$2" "$log" || fail "$1: nobody said \"$2\""
}

rxe-up 2 || fail "no RDMA devices"
export GASNET_VERBS_DEVICE=rxe0
provoke killed_rank 'rank 1.*(signal 9|SIGKILL|Killed)' 'kill -9 $(pgrep -P $job -f chatter | tail -1)'
# A link that flaps for a second: rxe says so (IBV_EVENT_PORT_ERR and _ACTIVE), and connections go on.
disturb link_flaps 'ip link set dummy0 carrier off && sleep 1 && ip link set dummy0 carrier on' 8
[ $code = 0 ] || fail "link_flaps: the job did not survive"
provoke port_down 'rxe0 port 1.*: the port went down' 'ip link set dummy0 down'
ip link set dummy0 up
export GASNET_VERBS_DEVICE=rxe0,rxe1
provoke rail_down 'rxe1 port 1.*: the port went down' 'ip link set dummy1 down'
