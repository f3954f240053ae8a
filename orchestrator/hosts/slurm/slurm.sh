#!/bin/sh
# Has the program of one run run as a job of Slurm, and waits for it. Each run has its own copy of this file.
#
#   slurm.sh NAME FIRST LONGEST WORD...   NAME is the job's, WORD... follow `srun`; while the job is pending, its reason
#                                         is asked for after FIRST seconds, then each time later, up to every LONGEST
#
# It ends as the program does. In the run's folder, which the job sees too, lie
#
#   job      from before the job is submitted until it is known to be gone
#   queue    why the job is pending, as Slurm said it last
#   silent   there while Slurm does not answer, since when its last change tells
#   placed   made by the one who comes first: the job as it begins, or who gave it up; then it never begins
#   over     the program's exit status, written by the job
#   outcome  how Slurm ended the job, where it was not the program that ended

name=$1
first=$2
longest=$3
shift 3
folder=${0%/*}

# TERM goes to every process of the run: this one stays to see the job end.
trap : HUP INT QUIT TERM
(umask 077 && : >"$folder/job") || exit 125

# Says why the job is pending, until it is placed; and ends an srun that waits on although the job is over, as it may
# where the controller was killed and has forgotten the job.
watch() {
    nap=
    trap 'kill -9 "$nap"; exit' TERM
    trap - HUP INT QUIT
    umask 077
    while [ ! -e "$folder/placed" ]; do
        sleep "$first" &
        nap=$!
        wait "$nap"
        if squeue --me --name "$name" --states PENDING --noheader --format %r >"$folder/queue.new"; then
            rm -f "$folder/silent"
            if [ -s "$folder/queue.new" ]; then mv -f "$folder/queue.new" "$folder/queue"; fi
        elif [ ! -e "$folder/silent" ]; then
            : >"$folder/silent"
        fi
        first=$longest
    done
    while :; do
        over=
        if [ -e "$folder/over" ]; then over=1; fi
        sleep 5 &
        nap=$!
        wait "$nap"
        if [ -n "$over" ]; then pkill -KILL -P "$$" -x srun; fi
    done
} >/dev/null 2>&1 </dev/null

# Tells in which state Slurm lists the job, once that is a last one.
ask() {
    for _ in 1 2 3 4 5 6; do
        state=$(squeue --me --name "$name" --states all --noheader --format %T) || return
        case $state in
        *RUNNING* | *COMPLETING* | *PENDING*) sleep 0.3 ;;
        *) return ;;
        esac
    done
    state=
} 2>/dev/null </dev/null

watch &
watcher=$!
if [ -t 0 ]; then
    srun --pty "$@"
else
    srun --unbuffered "$@"
fi
status=$?
{
    kill "$watcher"
    wait "$watcher"
} 2>/dev/null

if [ "$status" -gt 128 ] && [ -e "$folder/over" ]; then read -r status <"$folder/over"; fi
state=
given_up=
if (umask 077 && set -C && echo 'given up' >"$folder/placed") 2>/dev/null; then
    given_up=1
    scancel --me --name "$name" >/dev/null 2>&1 </dev/null
fi
if [ "$status" != 0 ]; then ask; fi
if [ -n "$state" ]; then (umask 077 && printf '%s\n' "$state" >"$folder/outcome"); fi
if [ -n "$state$given_up" ] || [ -e "$folder/over" ]; then rm -f "$folder/job"; fi
exit "$status"
