#!/bin/sh
# Starts the container of one run, waits for it, and sees that it is gone. Each run has its own copy of this file.
#
#   container.sh ENGINE NAME INTERVAL WORD...   ENGINE is `podman` or `docker`, NAME the container's, WORD... follow
#                                               `ENGINE run`; every INTERVAL seconds conmon is looked for (0: never)
#
# It ends as the program in the container does. The file `container` in the run's folder stands for the container; it is
# removed once that is gone. While it is there without this script, the PM removes the container.

engine=$1
name=$2
interval=$3
shift 3
folder=${0%/*}

# TERM goes to every process of the run: this one stays to see the container end.
trap : HUP INT QUIT TERM
umask 077

# Removes the container, and returns whether it is gone. Podman, once its conmon was killed, does it the second time.
remove() {
    for _ in 1 2 3; do
        case $engine in
        podman) podman rm --force --time 0 "$name" ;;
        *) "$engine" rm --force "$name" ;;
        esac >/dev/null
        left=$("$engine" ps --all --quiet --filter "label=agent-orchestrator.run=$folder") || continue
        if [ -z "$left" ]; then return; fi
    done
    false
} </dev/null 2>/dev/null

# A killed conmon takes the program with it, but `podman run` waits for it for ever (measured with 4.3).
watch() {
    nap=
    trap 'kill -9 "$nap"; exit' TERM
    trap - HUP INT QUIT
    while :; do
        sleep "$interval" &
        nap=$!
        wait "$nap"
        if [ -n "${monitor-}" ]; then
            if ! kill -0 "$monitor"; then break; fi
        elif [ -f "$folder/conmon.pid" ]; then
            read -r monitor <"$folder/conmon.pid"
        fi
    done
    : >"$folder/conmon.lost"
    remove
} >/dev/null 2>&1 </dev/null

# The program may write in the run's folder, and what lies there already is read-only to it: scripts that run out here,
# claims, and where the launcher will write down how the run ended. `answers` is a mount so that it stays a folder.
# What `prepare.sh` moves away from here is its own.
protect() {
    : >"$folder/container"
    : >"$folder/exit.new"
    mkdir -p "$folder/answers"
}

protect
set -- --mount "type=bind,source=$folder/answers,destination=$folder/answers" "$@"
for each in "$folder"/*; do
    case ${each##*/} in copied-*) continue ;; esac
    if [ ! -f "$each" ] || [ -h "$each" ]; then continue; fi
    set -- --mount "type=bind,source=$each,destination=$each,readonly" "$@"
done
if [ -t 0 ]; then set -- --tty "$@"; fi

watcher=
if [ "$interval" != 0 ]; then
    watch &
    watcher=$!
fi
"$engine" run "$@"
status=$?
if [ -n "$watcher" ]; then
    kill "$watcher"
    wait "$watcher"
fi 2>/dev/null
if [ -f "$folder/conmon.lost" ]; then status=137; fi

# With a lower status the engine has seen the container end.
if [ "$status" -ge 125 ]; then
    remove || exit "$status"
fi
rm -rf "$folder/exit" "$folder/exit.new" "$folder/container"
exit "$status"
