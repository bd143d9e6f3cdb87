#!/bin/bash
# In a guest: jobs of two ranks in each dispatch mode, on a soft RDMA device (completion channels wake) or on NICs (Rx interrupts do).
# dispatch_ranks.sh rxe|siw|nic LAUNCHER 'MODE...' 'PROGRAM [ARGUMENT...]'...
device=$1 launcher=$2 modes=$3
shift 3

fail() { echo "dispatch_ranks.sh: $*" >&2; exit 1; }
case $device in
  nic) GASNET_DPDK_PCI=$(vfio-up) || fail "no NIC"; export GASNET_DRIVER=dpdk GASNET_DPDK_PCI ;;
  *) "$device-up" || fail "no RDMA device"; export GASNET_DRIVER=verbs GASNET_QP_TIMEOUT=20 ;; # see verbs_ranks.sh
esac
export GASNET_WATCHDOG_US=2000
for mode in $modes; do
  for program in "$@"; do
    began=$SECONDS
    read -ra words <<< "$program"
    GASNET_DISPATCH=$mode "$launcher" -n 2 "${words[@]}" || fail "${program##*/} in mode $mode left with $?"
    echo "dispatch_ranks.sh: ${program##*/} in mode $mode: ok, $((SECONDS - began)) s"
  done
done
