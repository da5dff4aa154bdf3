#!/bin/sh
# Keeps one replica: starts it at most once, keeps its output and writes down how it ended. Belongs to no worker.
#
#   supervise.sh TOMBSTONE BELL CGROUPS OOM_FACTS LAUNCHER...      in the replica's folder, with a clean environment
#
# Standard output is a pipe to the worker; its end says that the start was taken or lost, and `launch` was opened.
# TOMBSTONE  a file that forbids the start, looked for after `started` was made: who forbids looks the other way round
# BELL       a file that is written whenever an observer should look
# CGROUPS    folders to put the replica into, parted by colons; may be empty
# OOM_FACTS  a file with a line `oom_kill N`; may be empty
# Writes `started` (exclusively: pid, start time, boot id), `child` (pid), `stage` (l: limits set, e: sandbox entered,
# x: user and directory taken, the command is next), `stdout`, `stderr`, `exit` (code, and `oom` or `-`; or `canceled`).
set -Cuf
umask 022
tombstone=$1 bell=$2 cgroups=$3 oom_facts=$4
shift 4

start_time() { started=${20}; }
ring() { printf . >"$bell"; }
end_with() { printf '%s\n' "$1" >exit.new && mv -f exit.new exit && ring; }

read -r stat <"/proc/$$/stat"
read -r boot </proc/sys/kernel/random/boot_id
start_time ${stat##*) }
printf '%s %s %s\n' "$$" "$started" "$boot" >started || exit 0
set +C
if [ -e "$tombstone" ]; then
  end_with canceled
  exit 0
fi
exec 3<launch
ring
exec >/dev/null

# Fifos, not files: a job that opens /dev/stderr anew would cut a file short, and lose what was written.
mkfifo -m 666 out err || { end_with '71 -'; exit 1; }
cat <out >>stdout 3<&- &
cat <err >>stderr 3<&- &
(
  exec >out 2>err <&3 3>stage
  IFS=:
  for cgroup in $cgroups; do printf 0 >"$cgroup/cgroup.procs" || exit 1; done
  printf l >&3
  exec "$@"
) &
child=$!
printf '%s\n' "$child" >child
exec 3<&-
wait "$child"
code=$?

# Whatever the command left behind ends with it, as it would in a container.
kill -s KILL -- "-$child"
IFS=:
for cgroup in $cgroups; do
  while read -r pid; do kill -s KILL "$pid"; done <"$cgroup/cgroup.procs"
done
wait

oom=-
if [ -n "$oom_facts" ]; then
  IFS=' '
  while read -r name count; do
    if [ "$name" = oom_kill ] && [ "$count" -gt 0 ]; then oom=oom; fi
  done <"$oom_facts"
fi
end_with "$code $oom"
