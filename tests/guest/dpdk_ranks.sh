#!/bin/bash
# In a guest with two NICs: jobs of two ranks, each on a NIC of its own. In the last, long bodies leave by the NIC's own DMA
# from the segment, or are copied where it cannot reach that. dpdk_ranks.sh in_place|copied LAUNCHER PROGRAM...
bodies=$1 launcher=$2
shift 2
export GASNET_DRIVER=dpdk GASNET_STATSFILE=$GUEST_LOGS/stats-%
GASNET_DPDK_PCI=$(vfio-up) || exit
export GASNET_DPDK_PCI

fail() { echo "dpdk_ranks.sh: $*" >&2; exit 1; }
for program in "$@"; do "$launcher" -n 2 "$program" || fail "$program left with $?"; done
for rank in 0 1; do
  grep -E 'dpdk\.(frames_sent|retransmits|timeouts|port_tx_attached_frames) ' "$GUEST_LOGS/stats-$rank" || fail "rank $rank wrote no statistics"
  sent=$(sed -n 's/.*dpdk.port_tx_attached_frames //p' "$GUEST_LOGS/stats-$rank")
  case $bodies:$sent in
    in_place:[1-9]* | copied:0) ;;
    *) fail "rank $rank sent ${sent:-an unknown number of} frames in place, and was to have its bodies $bodies" ;;
  esac
done
