#!/bin/sh
# Stands for pinwire_switch: says how it was called, and stays until it is told to go.
if [ "$FAKE_SWITCH" = broken ]; then
  echo "fake_switch: cannot start" >&2
  exit 1
fi
echo "$*" >"$FAKE_SWITCH_SEEN"
cut -d ' ' -f 1,5,6 "/proc/$$/stat" >"$FAKE_SWITCH_SEEN.ids"
# A child that goes on has its standard output, too.
[ "$FAKE_SWITCH" = parent ] && sleep 1000 &
trap 'echo "fake_switch: counters"; exit 0' TERM
echo "some words of EAL"
while [ "$FAKE_SWITCH" = slow ] && ! [ -e "$FAKE_SWITCH_SEEN.go" ]; do sleep 0.02; done
echo ready
: >"$FAKE_SWITCH_SEEN.ready"
while :; do sleep 0.02; done
