#!/usr/bin/env bash
# Delays every sync of the log.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_strace
room 4
delay=2000000
[[ -z $short ]] || delay=200000
: >acked
under=(strace -f -qq -o trace -e trace=fsync,fdatasync -e "inject=fsync,fdatasync:delay_enter=$delay")
begin
((code == 5)) || fail "exit code $code"
check "$(id)" 'slow syncs'
ok "a room with $((delay / 1000)) ms for each sync came to its end"
