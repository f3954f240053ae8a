#!/bin/sh
# Runs the agent of one run, once, and writes down what became of it. Each run has its own copy of this file,
# so that an upgrade changes nothing under a living agent. It stands in the run's folder, beside
#
#   agent.sh   made for this run: what to run and how (see `hosts/launcher.py`)
#   claimed    made by the one launcher that runs the agent
#   pid        this launcher's pid, start time and pane; there before the agent starts
#   exit       how the agent ended
#
# sh cannot fsync. That is no loss: after a power cut every process is gone, and a run without `exit` reads
# as lost.

# A trap that does something, rather than nothing, is not passed on: the agent starts with the defaults.
told=
trap 'told=129' HUP
trap 'told=130' INT
trap 'told=131' QUIT
trap 'told=143' TERM

cd -- "${0%/*}" || exit 1
set -fC
if ! true 2>/dev/null >claimed; then
    echo 'This run was launched before: nothing is started.'
    exit 0
fi
set +C

# shellcheck source=/dev/null
. ./agent.sh

# The start time tells this process from a later one of the same number; `hosts/processes.py` reads the same.
if read -r stat 2>/dev/null <"/proc/$$/stat"; then
    read -r boot </proc/sys/kernel/random/boot_id
    # shellcheck disable=SC2086 # the fields after the name, which may hold spaces itself
    set -- ${stat##*) }
    start=${20}@$boot
else
    start=$(LC_ALL=C ps -o lstart= -p "$$")
fi
printf 'run %s\npid %s\nstart %s\npane %s\n' "$run" "$$" "$start" "${TMUX_PANE-}" >pid.new

# One call labels the pane and begins its log, before the agent says a word. tmux is given 2 s for that: the
# agent does not need it. What ends first ends the wait. `ulimit` bounds the log, and cat, unlike head, keeps
# nothing back.
if [ -n "${TMUX_PANE-}" ]; then
    sleep 2 &
    bound=$!
    {
        tmux set-option -p -t "$TMUX_PANE" @run "$run" \; \
            set-option -p -t "$TMUX_PANE" remain-on-exit on \; \
            pipe-pane -O -t "$TMUX_PANE" "ulimit -c 0; ulimit -f $log_blocks; exec cat >>\"\$(printf '$log')\""
        kill "$bound"
    } >/dev/null 2>&1 &
    labelling=$!
fi

status=
mv -f pid.new pid || status=125
if [ -n "${TMUX_PANE-}" ]; then
    if [ -z "$told" ]; then wait "$bound"; fi
    kill -9 "$labelling"
    wait "$labelling"
fi 2>/dev/null

# The kernel counts the processes of a cgroup that it killed for want of memory.
oom_file=
while IFS=: read -r _ controllers path; do
    case $controllers in
    '') candidate=/sys/fs/cgroup$path/memory.events ;;
    *memory*) candidate=/sys/fs/cgroup/memory$path/memory.oom_control ;;
    *) continue ;;
    esac
    if [ -r "$candidate" ]; then oom_file=$candidate; fi
done 2>/dev/null <"/proc/$$/cgroup"

oom_kills() {
    while read -r key count; do
        if [ "$key" = oom_kill ]; then kills=$count; fi
    done <"$oom_file"
}

kills=0
if [ -n "$oom_file" ]; then oom_kills; fi
before=$kills

if [ -n "$told" ]; then status=$told; fi
if [ -z "$status" ]; then
    (
        cd -- "$cwd" || exit 127
        agent
    )
    status=$?
fi

# From here on nothing may end what writes the last word.
trap '' HUP INT QUIT TERM
if [ -n "$oom_file" ]; then oom_kills; fi
if [ "$status" -gt 128 ] && [ "$status" -le 192 ]; then
    how="signal $((status - 128))"
else
    how="code $status"
fi
printf '%s\noom_kills %s\nat %s\n' "$how" "$((kills - before))" "$(date +%s)" >exit.new && mv -f exit.new exit
