#!/bin/sh
# Has the program of one run run in a pod of Kubernetes, and follows it. Each run has its own copy of this file.
#
#   pod.sh NAME CONTAINER LONGEST FORMAT OPTION...   NAME is the pod's, the program runs in CONTAINER; where the cluster
#                                                    does not answer it is asked again, later each time, up to every
#                                                    LONGEST seconds; FORMAT asks for the line that `look` reads, and
#                                                    OPTION... go to each call of `kubectl`
#
# It ends as the program does. In the run's folder, which the pod sees too, lie
#
#   pod.json      the pod
#   variables.sh  the program's environment
#   pod           from before the pod is created until it is known to have ended
#   queue         why the pod is pending, as Kubernetes says it
#   placed        made by the one who comes first: the pod as it begins, or who gave it up; then it never begins
#   program       the program's pid within the pod
#   over          the program's exit status, written by the pod
#   outcome       what Kubernetes said of the pod in the end

name=$1
container=$2
longest=$3
format=$4
shift 4
folder=${0%/*}
told=
asked=
given_up=
pause=1

# TERM goes to every process of the run: this one stays to see the pod end. A hang-up ends programs as it does here.
trap : INT QUIT
trap told=1 HUP TERM
umask 077
: >"$folder/pod" || exit 125

# Waits before the cluster is asked again, a little longer each time. TERM ends the wait.
rest() {
    if [ -n "$asked" ]; then pause=1; fi
    sleep "$pause" &
    nap=$!
    wait "$nap"
    if [ -n "$told" ]; then kill "$nap" 2>/dev/null; fi
    pause=$((pause * 2))
    if [ "$pause" -gt "$longest" ]; then pause=$longest; fi
}

say_queued() {
    printf '%s\n' "$1" >"$folder/queue.new" && mv -f "$folder/queue.new" "$folder/queue"
}

# Takes the run's place, so that a pod that comes late begins nothing.
give_up() {
    if (set -C && echo 'given up' >"$folder/placed") 2>/dev/null; then given_up=1; fi
}

# Keeps the first word about the pod's end: what is said later may be of what this script did itself.
save() {
    (set -C && printf '%s\n' "$1" >"$folder/outcome") 2>/dev/null
}

# Creates the pod. What the cluster refuses is final, but for a quota that is used up: then the run waits in the queue.
submit() {
    while [ -z "$told" ]; do
        if said=$(kubectl "$@" create --request-timeout=20s --validate=false \
            --filename "$folder/pod.json" 2>&1 >/dev/null </dev/null); then return 0; fi
        said=$(printf '%s\n' "$said" | tail -n 1)
        case $said in
        *AlreadyExists*) return 0 ;;
        *'exceeded quota'*) say_queued ExceededQuota ;;
        *'Unable to connect'* | *'onnection '* | *[Tt]imeout* | *'timed out'* | *TooManyRequests* | \
            *ServiceUnavailable* | *InternalError* | *EOF* | '') say_queued NoAnswer ;;
        *)
            printf '%s\n' "$said"
            save "refused|$said"
            return 1
            ;;
        esac
        rest
    done
    return 0
}

# Reads a line about the pod: sets `state` to pending, running or ended.
read_state() {
    IFS='|' read -r phase _ reason scheduled waiting running code _ <<LINE
$1
LINE
    if [ -n "$code" ] || [ "$phase" = Failed ] || [ "$phase" = Succeeded ]; then
        state=ended
    elif [ -n "$running" ]; then
        state=running
    else
        state=pending
        for each in "$waiting" "$scheduled" "$reason" "$phase"; do
            if [ -n "$each" ]; then break; fi
        done
        say_queued "$each"
    fi
}

# Asks what the pod does: sets `state`, also to gone if there is none, or unknown if nobody answers; and `line`.
look() {
    code=
    if line=$(kubectl "$@" get pod "$name" --ignore-not-found --request-timeout=20s --output "$format" </dev/null); then
        if [ -n "$line" ]; then read_state "$line"; else state=gone; fi
    else
        state=unknown
    fi
} 2>/dev/null

# Follows a pending pod, until it is pending no more or the cluster ends the call.
follow() {
    rm -f "$folder/changes"
    mkfifo "$folder/changes" || return
    kubectl "$@" get pod "$name" --watch --output "$format" >"$folder/changes" </dev/null &
    watcher=$!
    while [ "$state" = pending ] && read -r line; do
        if [ -n "$line" ]; then read_state "$line"; fi
        pause=1
    done <"$folder/changes"
    kill "$watcher"
    wait "$watcher"
    rm -f "$folder/changes"
} 2>/dev/null

# Shows the program here, until it ends or the connection does.
attach() {
    began=$(date +%s)
    if [ -t 0 ]; then
        kubectl "$@" attach "$name" --container "$container" --quiet --stdin --tty 2>"$folder/attach.err"
    else
        kubectl "$@" attach "$name" --container "$container" --quiet 2>"$folder/attach.err" </dev/null
    fi
    if [ "$(($(date +%s) - began))" -gt 5 ]; then pause=1; fi
}

# Looks up why a pod is gone that nobody here deleted.
lost() {
    reasons=$(kubectl "$@" get events --request-timeout=20s --field-selector "involvedObject.name=$name" \
        --output 'jsonpath={range .items[*]}{.reason}{" "}{end}' </dev/null)
    save "gone|$reasons"
} 2>/dev/null

# Has the pod ended: its program gets TERM first. Without an answer it is tried again.
ask_to_end() {
    if kubectl "$@" delete pod "$name" --ignore-not-found --wait=false --request-timeout=20s >/dev/null 2>&1 </dev/null; then
        asked=1
    fi
}

# Follows the pod to its end: `state` is ended or gone then, or over if the program said so and Kubernetes does not yet.
see_through() {
    waits=0
    while :; do
        look "$@"
        if [ -n "$told" ] && [ -z "$asked" ]; then
            if [ -z "$given_up" ]; then give_up; fi
            ask_to_end "$@"
        fi
        case $state in
        ended)
            save "$line"
            return
            ;;
        gone)
            if [ -z "$asked" ]; then lost "$@"; fi
            return
            ;;
        running) if [ ! -e "$folder/over" ]; then attach "$@"; fi ;;
        pending) if [ -z "$told" ]; then follow "$@"; fi ;;
        esac
        if [ -e "$folder/over" ]; then
            waits=$((waits + 1))
            if [ "$waits" -gt 30 ]; then
                state=over
                return
            fi
            sleep 0.3
        elif [ "$state" != running ] || [ -z "$told" ] || [ -n "$asked" ]; then
            if [ "$state" != ended ]; then rest; fi
        fi
    done
}

state=unknown
code=
if submit "$@"; then see_through "$@"; else give_up; fi

status=125
if [ -n "$given_up" ] && [ -n "$told" ]; then status=143; fi
case $code in *[!0-9]* | '') ;; *) status=$code ;; esac
if [ -e "$folder/over" ]; then read -r status <"$folder/over"; fi
case $state in ended | over) ask_to_end "$@" ;; esac
rm -f "$folder/pod"
exit "$status"
