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
FAKE_HOST=$host exec sh -c "$*"
