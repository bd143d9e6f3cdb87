#!/bin/sh
# Stands for ssh: "fake_ssh.sh [-options] host command" runs the command on this host.
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
if [ "$host" = nowhere ]; then
  echo "fake_ssh: no route to $host" >&2
  exit 255
fi
[ "$host" = silent ] && exec sleep 1000
echo "Welcome to $host, says its login shell"
unset FRUIT PEAR
export FAKE_HOST=$host
# Its own idea of how long nothing may be heard is much shorter than the default.
[ "$host" = hasty ] && export GASNET_SSH_TIMEOUT=1
# Its own environment has a directory that is not there, or a setting that is none.
[ "$host" = homeless ] && export TMPDIR=/nowhere/at/all
[ "$host" = confused ] && export GASNET_EXITTIMEOUT=never
# Two processes carry what is said to and from a host far away, and note their numbers in
# $FAKE_RELAYS: when they are stopped, nothing arrives any more, and no connection ends.
relay='echo $$ >>"$FAKE_RELAYS"; exec cat'
[ "$host" = far ] && { sh -c "$relay" | sh -c "$*" | sh -c "$relay"; exit; }
# A connection that stays for a while when all is over.
[ "$host" = late ] && { sh -c "$*"; code=$?; sleep 1; exit $code; }
exec sh -c "$*"
