# Looks at the runs of a box and ends them, in one round trip. Given to `sh -c` with the root of our files beneath
# $HOME, a verb, and:
#
#   observe [FOLDER PID START]...   how far each run is, and what of it outlives its launcher; PID and START of a launcher
#                                   that was seen alive, or empty
#   cpu FOLDER                      what its living processes have used, in ticks, and how many make a second
#   fence FOLDER KNOWN              claims one that nobody claimed, or whose launcher told no pid for a minute: it will
#                                   never begin
#   end FOLDER KNOWN TERM|KILL      ends all of it, or fences it
#   prepare FOLDER KNOWN INBOX      makes its folders, and says whether it was claimed
#   begin LOG WORDS                 lays down the settings of tmux, from standard input, and begins a session's log
#
# FOLDER is beneath the root; KNOWN is `known` if the run was seen claimed, else empty. What stands in files of a run may
# be written by its agent: it is printed line by line under a word of ours, and read strictly on the other side.
# `launch.sh` tells what these files are.

# It has no here-document: bash before 5.1 writes each to a file in /tmp first, and on a box whose /tmp is full every run
# would look as if it had told nothing.

# shellcheck disable=SC3043 # all variables are everybody's: `local` is no word of POSIX

# Sets `stat` to what the kernel tells of a process. Its name may hold a line break.
read_stat() {
    stat= part=
    while read -r part || [ -n "$part" ]; do stat="$stat $part"; done <"/proc/$1/stat"
    [ -n "$stat" ]
} 2>/dev/null

# Tells whether a process runs that began at a time, as launch.sh writes it.
lives() {
    case $1 in '' | 0* | *[!0-9]*) return 1 ;; esac
    if [ -z "$boot" ]; then
        case $(ps -o stat= -p "$1" 2>/dev/null) in '' | Z*) return 1 ;; esac
        LC_ALL=C ps -o lstart= -p "$1" 2>/dev/null | { read -r began && [ "$began" = "$2" ]; }
        return
    fi
    read_stat "$1" || return 1
    # shellcheck disable=SC2086 # the fields after the name
    set -- "$2" ${stat##*) }
    case $2 in Z | X) return 1 ;; esac
    [ "${21}@$boot" = "$1" ]
}

# Sets `text` to what stands in a plain file, at most so much of it, and a dot: it keeps the last line break.
read_file() {
    [ -f "$1" ] && [ ! -L "$1" ] || return 1
    text=$(dd if="$1" bs=4096 count=1 2>/dev/null && echo .)
} 2>/dev/null

# Prints `text`, each line under a word.
tell() {
    printf '%s\n' "$text" | while IFS= read -r line; do printf '%s %s\n' "$1" "$line"; done
}

# Sets `key` and `value` from the first line of `rest`, which is taken from it; fails where there is none.
next_pair() {
    if [ -z "$rest" ]; then return 1; fi
    line=${rest%%"$newline"*}
    rest=${rest#"$line"} rest=${rest#"$newline"}
    key=${line%% *} value=
    case $line in *' '*) value=${line#* } ;; esac
    value=${value#"${value%%[! ]*}"} value=${value%"${value##*[! ]}"}
}

# Sets pid, start, session and group of the launcher of a run; fails where nothing tells of one. `group` is the control
# group that it made, if it did: the name is made as launch.sh makes it, whatever stands there.
read_pid() {
    if read_said "$1" && confirmed "$1"; then
        lives "$pid" "$start" || ! is_late "$1" || find_launcher "$1" || true
    else
        is_late "$1" && find_launcher "$1"
    fi
}

# Sets the same from what stands in the file `pid`.
read_said() {
    pid= start= session= group= whole=
    read_file "$1/pid" || return 1
    rest=$text
    while next_pair; do
        whole=
        case $key in
        pid) pid=$value ;;
        start) start=$value ;;
        session) session=$value ;;
        cgroup) group=$value ;;
        .) whole=yes ;;
        esac
    done
    case $pid in '' | 0* | *[!0-9]*) return 1 ;; esac
    case $session in 0* | *[!0-9]*) session= ;; esac
    case $group in *..*) group= ;; /sys/fs/cgroup | /sys/fs/cgroup/*) group=$group/orchestrator-run-$pid-${start%%@*} ;; *) group= ;; esac
    [ -n "$start" ] && [ -n "$whole" ]
}

# Tells whether a launcher has had the time to write its pid, and has not ended: then it is looked for.
is_late() {
    if [ -e "$1/exit" ] || [ ! -e "$1/claimed" ]; then return 1; fi
    [ -e "$1/pid" ] || [ -n "$(find "$1/claimed" -mmin +1 2>/dev/null)" ]
}

# Sets the same, and `text` as it would stand there, from the launcher of a run that lives, looked for among all
# processes: it runs launch.sh, and so does its parent, which leads the session. For want of a file that was spoilt,
# another life would begin beside it.
find_launcher() {
    if [ -z "$boot" ]; then return 1; fi
    for each in $(grep -slzF -e "/$1/launch.sh" /proc/[0-9]*/cmdline); do
        each=${each%/cmdline} each=${each#/proc/}
        if ! launches "$each" "$1" || ! read_stat "$each"; then continue; fi
        # shellcheck disable=SC2086 # the fields after the name
        set -- "$1" ${stat##*) }
        if [ "$3" != "$5" ] || ! launches "$3" "$1"; then continue; fi
        pid=$each start=${21}@$boot session=$5 group=
        text="pid $pid
start $start
session $session
."
        return
    done
    return 1
}

# Tells whether a process runs the run's own launch.sh, as its launcher and the leader of its session do. That is the last
# word of its command, by whatever name of the folder it was begun.
launches() {
    if [ -n "$boot" ]; then
        words=$(tr '\000' '\n' <"/proc/$1/cmdline")
        words=${words##*
}
    else
        words=$(ps -ww -o args= -p "$1")
        words=${words#* }
    fi
    # shellcheck disable=SC3013 # dash, bash, ksh and busybox know it
    [ "$words" -ef "$2/launch.sh" ]
} 2>/dev/null

# Tells whether the process table agrees with what was read: anybody of this user may write it. A process that is no
# launcher of this run is a stranger's, and so is a session that such a one leads.
confirmed() {
    if lives "$pid" "$start"; then
        if ! launches "$pid" "$1"; then return 1; fi
        if [ -n "$boot" ]; then
            read_stat "$pid" || return 1
            # shellcheck disable=SC2086 # the fields after the name
            set -- "$1" ${stat##*) }
            session=$5
        else
            session=$(ps -o pgid= -p "$pid" | tr -cd 0-9)
        fi
        if ! launches "$session" "$1"; then session=; fi
    elif [ -n "$session" ] && kill -s 0 "$session" 2>/dev/null && ! launches "$session" "$1"; then
        session=
    fi
}

# Sets `until` to the uptime in seconds at which the launcher of the run that was read wrote its `exit`, if that tells.
read_until() {
    until=
    read_file "$1/exit" || return
    rest=$text
    while next_pair; do
        if [ "$key" = uptime ]; then until=${value%%.*}; fi
    done
    case $until in 0* | *[!0-9]* | ?????????????*) until= ;; esac
}

# Prints the pid of every process of the run in this folder, which was read: all in its session while its launcher lives,
# and afterwards those that began before that, as the number may be another's by now; all that bear its mark, which finds
# servers that left the session; and all in its control group.
of_run() {
    own= until=
    if lives "$pid" "$start"; then
        own=$session
    else
        read_until "$1"
        if [ -n "$until" ]; then own=$session; fi
    fi
    if [ -z "$boot" ]; then
        ps -ax -o pid=,pgid=,stat= | while read -r each group state; do
            case $state in Z*) continue ;; esac
            if [ -n "$own" ] && [ "$group" = "$own" ]; then echo "$each"; fi
        done
        return
    fi
    if [ -n "$own" ]; then
        # The shell reads byte by byte: only what may be in the session is read so. A name can feign that, and hide nothing.
        for each in $(grep -slE "\\) [A-Za-z] [0-9-]+ [0-9-]+ $own " /proc/[0-9]*/stat); do
            each=${each%/stat}
            read_stat "${each#/proc/}" || continue
            # shellcheck disable=SC2086 # the fields after the name
            set -- ${stat##*) }
            case $1 in Z | X) continue ;; esac
            if [ "$4" != "$own" ]; then continue; fi
            if [ -z "$until" ] || [ "$((${20} / hertz))" -lt "$until" ]; then echo "${each#/proc/}"; fi
        done
    fi
    if [ -n "$group" ]; then find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null; fi
    grep -slzxF -e "ORCHESTRATOR_LAUNCHER=$pid@$start" /proc/[0-9]*/environ 2>/dev/null |
        while IFS=/ read -r _ _ each _; do echo "$each"; done
}

signal_run() {
    for each in $(of_run "$1"); do kill -s "$2" "$each"; done 2>/dev/null
}

# Tells what outlives the launcher of the run that was read, but for the leader of its session, which ends with it.
left_behind() {
    told=0
    for each in $(of_run "$1" | sort -nu); do
        if [ "$each" = "$pid" ] || [ "$each" = "$session" ] || [ "$told" -ge 20 ]; then continue; fi
        name=
        { read -r name <"/proc/$each/comm"; } 2>/dev/null || continue # it ended meanwhile
        printf 'left %s %s\n' "$each" "$name"
        told=$((told + 1))
    done
    if [ "$told" = 0 ]; then remove_group; fi
}

# Removes the control group of the run that was read, and what was made beneath it, if nobody is in it.
remove_group() {
    if [ -n "$group" ] && [ -d "$group" ]; then find "$group" -depth -type d -exec rmdir {} \; ; fi 2>/dev/null
}

# Kills all but the launcher, and the leader above it, so that it can tell; after 2 s these too. The leader's end
# would hang up the agent, which would then have ended by another signal than it did.
kill_run() {
    looks=0
    while left=$(of_run "$1") && [ -n "$left" ] && [ "$looks" -lt 40 ]; do
        for each in $left; do
            case $each in "$pid" | "$session") ;; *) kill -s KILL "$each" ;; esac
        done 2>/dev/null
        looks=$((looks + 1))
        sleep 0.05
    done
    if [ -n "$left" ]; then signal_run "$1" KILL; fi
    remove_group
}

observe() {
    number=0
    while [ $# -gt 0 ]; do
        echo "run $number"
        number=$((number + 1))
        if lives "$2" "$3"; then
            echo lives
        else
            observe_one "$1"
        fi
        shift 3
    done
}

observe_one() {
    if [ -z "$there" ] || [ ! -d "$1" ]; then return; fi
    echo folder
    # The order counts: a launcher found dead has written its `exit` by then, if it ever will.
    launched= over=
    if read_pid "$1"; then
        launched=yes over=yes
        tell pid
        if lives "$pid" "$start"; then echo lives && over=; fi
    fi
    if [ -e "$1/exit" ] || [ -L "$1/exit" ]; then
        over=yes
        echo exit
        if read_file "$1/exit"; then tell exit; fi
    fi
    if [ -n "$launched" ] && [ -n "$over" ]; then left_behind "$1"; fi
    if [ -e "$1/claimed" ]; then echo claimed; fi
}

cpu() {
    if [ -z "$there" ] || [ -z "$boot" ] || ! read_pid "$1"; then return; fi
    used=0 found=
    for each in $(of_run "$1" | sort -u); do
        read_stat "$each" || continue
        # shellcheck disable=SC2086 # the fields after the name
        set -- ${stat##*) }
        used=$((used + ${12} + ${13} + ${14} + ${15})) found=yes
    done
    if [ -n "$found" ]; then echo "used $used $(getconf CLK_TCK)"; fi
}

# A claim that was seen and is not there any more: the box was emptied, or a disk is not mounted. Nothing is begun.
missing() {
    if [ -z "$2" ] || [ -e "$1/claimed" ]; then return 1; fi
    echo missing
}

fence() {
    if missing "$1" "$2"; then return 1; fi
    mkdir -p -- "$1" || exit
    if ! (set -C && : >"$1/claimed") 2>/dev/null; then
        # Not there, and not to be made: a disk that is full.
        if [ ! -e "$1/claimed" ]; then exit 1; fi
        if ! give_up "$1"; then return; fi
    fi
    printf 'signal 15\noom_kills 0\n' >"$1/exit.new" && mv -f "$1/exit.new" "$1/exit" || exit
}

# Sees to it that a launcher starts nothing which claimed a run and told no pid for a minute: the box was switched off in
# between, or its disk was full. One that lives, and takes `begun` first, has told its pid by then.
give_up() {
    if [ -e "$1/exit" ] || read_pid "$1" || [ -z "$(find "$1/claimed" -mmin +1 2>/dev/null)" ]; then return 1; fi
    (set -C && : >"$1/begun") 2>/dev/null
    ! read_pid "$1"
}

end() {
    fence "$1" "$2" || return
    if ! read_pid "$1"; then return; fi
    case $3 in KILL) kill_run "$1" ;; *) signal_run "$1" TERM ;; esac
}

prepare() {
    if missing "$1" "$2"; then return; fi
    if [ -e "$1/claimed" ]; then
        echo claimed
    else
        mkdir -p -- "$1/answers" "$3" || exit
    fi
}

begin() {
    cat >"tmux.conf.$$" && mv -f "tmux.conf.$$" tmux.conf && mkdir -p -- "${1%/*}" || exit
    if [ ! -e "$1" ]; then printf '%s\n' "$2" >"$1" || exit; fi
}

umask 077
newline='
'
boot= hertz=$(getconf CLK_TCK 2>/dev/null || echo 100)
{ read -r boot </proc/sys/kernel/random/boot_id; } 2>/dev/null
echo orchestrator-runs-1
printf 'home %s\n' "$HOME"
# A look makes nothing: the disk that belongs there may not be mounted.
there=
case $2 in begin | end | fence | prepare) mkdir -p -- "$HOME/$1" || exit ;; esac
if cd -- "$HOME/$1" 2>/dev/null; then there=yes; fi
shift
"$@"
echo orchestrator-runs-end
