#!/bin/sh
# Runs the agent of one run, once, and writes down what became of it. Each run has its own copy of this file,
# so that an upgrade changes nothing under a living agent. It stands in the run's folder, beside
#
#   agent.sh   made for this run: what to run and how (see `hosts/launcher.py`)
#   claimed    made by the one launcher that runs the agent
#   pid        that launcher's pid, start time, session and pane, and beneath which control group it made one of its
#              own; there before the agent starts
#   begun      made by it ahead of the agent, or by who gave it up as it had told no pid: then no agent starts
#   exit       how the agent ended, and at which uptime
#
# sh cannot fsync. That is no loss: after a power cut every process is gone, and a run without `exit` reads
# as lost.

# shellcheck disable=SC2154 # run, cwd, log and log_blocks come from agent.sh

# The start time tells a process from a later one of the same number; `hosts/processes.py` reads the same.
describe() {
    if read -r stat 2>/dev/null </proc/self/stat; then
        read -r boot </proc/sys/kernel/random/boot_id
        pid=${stat%% *}
        # shellcheck disable=SC2086 # the fields after the name, which may hold spaces itself
        set -- ${stat##*) }
        session=$4
        start=${20}@$boot
    else
        # shellcheck disable=SC2016 # the other shell's parent, which is this one
        pid=$(exec sh -c 'echo "$PPID"')
        session=$$
        start=$(LC_ALL=C ps -o lstart= -p "$pid")
    fi
    # Without a pane the session is somebody else's.
    if [ "$session" != "$$" ]; then session=0; fi
    enter_cgroup
    printf 'pid %s\nstart %s\nsession %s\npane %s\ncgroup %s\n' \
        "$pid" "$start" "$session" "${TMUX_PANE-}" "$cgroup" >pid.new
}

# Makes a control group for this run and enters it, where that is permitted: what the agent starts stays in it, whatever
# becomes of its session, its environment and its parents. `hosts/run_processes.py` makes the same name.
enter_cgroup() {
    cgroup= path=
    while IFS=: read -r number _ rest; do
        if [ "$number" = 0 ]; then path=$rest; fi
    done 2>/dev/null </proc/self/cgroup
    for mount in /sys/fs/cgroup /sys/fs/cgroup/unified; do
        if [ -z "$path" ] || [ ! -w "$mount$path/cgroup.procs" ]; then continue; fi
        own=$mount$path/orchestrator-run-$pid-${start%%@*}
        if mkdir "$own" && echo 0 >"$own/cgroup.procs"; then
            cgroup=$mount$path
        else
            rmdir "$own"
        fi
        return
    done 2>/dev/null
}

# One call labels the pane and begins its log. `ulimit` bounds the log; cat, unlike head, keeps nothing back.
label() {
    tmux set-option -p -t "$TMUX_PANE" @run "$run" \; \
        set-option -p -t "$TMUX_PANE" remain-on-exit on \; \
        pipe-pane -O -t "$TMUX_PANE" "umask 077; ulimit -c 0; ulimit -f $log_blocks; exec cat >>\"\$(printf '$log')\""
}

# The kernel counts the processes of a cgroup that it killed for want of memory.
find_oom_file() {
    oom_file=
    while IFS=: read -r _ controllers path; do
        case $controllers in
        '') candidate=/sys/fs/cgroup$path/memory.events ;;
        *memory*) candidate=/sys/fs/cgroup/memory$path/memory.oom_control ;;
        *) continue ;;
        esac
        if [ -r "$candidate" ]; then oom_file=$candidate; fi
    done 2>/dev/null </proc/self/cgroup
}

count_oom_kills() {
    kills=0
    if [ -z "$oom_file" ]; then return; fi
    while read -r key count; do
        if [ "$key" = oom_kill ]; then kills=$count; fi
    done <"$oom_file"
}

launch() {
    # A trap that does something, rather than nothing, is not passed on: the agent starts with the defaults.
    told=
    trap 'told=129' HUP
    trap 'told=130' INT
    trap 'told=131' QUIT
    trap 'told=143' TERM

    # Whatever the tmux server was started with: what stands here is its user's alone.
    umask 077
    cd -- "${0%/*}" || exit 1
    set -fC
    if ! true 2>/dev/null >claimed; then
        echo 'This run was launched before: nothing is started.'
        exit 0
    fi
    set +C
    # shellcheck source=/dev/null
    . ./agent.sh
    find_oom_file # of the group that it was started in: one of our own counts nothing
    # A disk that is full: nobody would know what lives here.
    status=
    describe || status=125

    # The pane is labelled before the agent says a word; but the agent does not need it, so tmux is given 2 s,
    # and what ends first ends the wait.
    if [ -n "${TMUX_PANE-}" ]; then
        sleep 2 &
        bound=$!
        {
            label
            # Not TERM, which is lost on a shell that has forked and not yet become `sleep` (measured); PIPE first,
            # as of what dies by that bash says nothing.
            kill -s PIPE "$bound"
            kill -9 "$bound"
        } >/dev/null 2>&1 &
        labelling=$!
    fi
    if [ -z "$status" ]; then mv -f pid.new pid || status=125; fi
    if [ -n "${TMUX_PANE-}" ]; then
        if [ -z "$told" ]; then wait "$bound"; fi
        kill -9 "$labelling"
        wait "$labelling"
    fi 2>/dev/null

    count_oom_kills
    before=$kills
    if [ -n "$told" ]; then status=$told; fi
    set -C
    if [ -z "$status" ] && ! true 2>/dev/null >begun; then status=125; fi
    set +C
    if [ -z "$status" ]; then
        (
            # From here a hang-up ends this shell. One that came before is seen by the terminal being none.
            if [ -n "${TMUX_PANE-}" ] && [ ! -t 0 ]; then exit 129; fi
            cd -- "$cwd" || exit 127
            agent "ORCHESTRATOR_LAUNCHER=$pid@$start"
        )
        status=$?
    fi

    # From here on nothing may end what writes the last word.
    trap '' HUP INT QUIT TERM
    count_oom_kills
    if [ "$status" -gt 128 ] && [ "$status" -le 192 ]; then
        how="signal $((status - 128))"
    else
        how="code $status"
    fi
    # Who was in this session by then is of this run; later its number may be given to another.
    uptime=
    { read -r uptime _ </proc/uptime; } 2>/dev/null
    printf '%s\noom_kills %s\nuptime %s\n' "$how" "$((kills - before))" "$uptime" >exit.new && mv -f exit.new exit
    exit "$status"
}

# When a terminal goes away, only the leader of its session is told; the others are when the leader ends. So
# that role is this shell's, which a hang-up ends. What launches is its child, and outlives that.
trap : INT QUIT TERM
(launch)
status=$?
# Its control group is empty by now, unless something was left behind: then whoever ends that removes it.
pid= start= cgroup=
while read -r key value; do
    case $key in pid) pid=$value ;; start) start=$value ;; cgroup) cgroup=$value ;; esac
done 2>/dev/null <"${0%/*}/pid"
if [ -n "$cgroup" ]; then rmdir "$cgroup/orchestrator-run-$pid-${start%%@*}"; fi 2>/dev/null
exit "$status"
