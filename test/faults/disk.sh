#!/usr/bin/env bash
# Fills the disk, limits the size of files, and makes the disk read-only.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
room 40

# A file may not grow over a limit.
fresh
under=(bash -c 'ulimit -f 1500; exec "$@"' limited)
begin
((code != 5)) || fail 'the limit of a file was not met'
grep -q 'LOG-' err || fail "a file that may not grow: exit code $code without the code of an error"
[[ -z $(id) ]] || complete "$(id)" 'a file that may not grow'

# The disk is full, then has space again.
need_mount 8m
export MOOT_DATA=$work/disk/data
under=()
room 1
fresh
begin # stores the policy's module
room 40
: >acked
free=$(df --output=avail -k disk | tail -n 1)
head -c $(((free - 200) * 1024)) /dev/zero >disk/ballast
begin
((code != 5)) || fail 'the disk was not full'
grep -q 'LOG-FULL' err || fail "a full disk: exit code $code without LOG-FULL"
room_id=$(id)
[[ -n $room_id ]] || fail 'the disk was full before there was a room'
check "$room_id" 'a full disk'
rm disk/ballast
complete "$room_id" 'a disk that was full'

# The disk is read-only: rooms can be read, and not resumed.
mount -o remount,ro "$work/disk"
check "$room_id" 'a read-only disk'
code=0
"$moot" run --room "$room_id" --max-turns 60 --headless --no-input </dev/null >out 2>err || code=$?
((code != 0)) && grep -q 'READONLY' err || fail "a read-only disk: exit code $code"
ok 'a limit of file sizes, a full disk and a read-only one: no acknowledged event lost'
