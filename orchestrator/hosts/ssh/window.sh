# What runs in a window here that shows a tmux session of a box: it attaches, and when the way is lost it says so in
# the last line, leaves the picture as it was, and attaches again when the way is back. It makes no connection of its
# own: the command uses the one that stands, or fails at once. It is given to `sh -c`, so that an upgrade changes
# nothing under a living window.
#
# It attaches only while somebody looks at it: of the few sessions that a connection is granted, and of what agents
# print all night, the daemon has better use.
#
#   $1     the box, as a person calls it
#   $2     the socket of the connection
#   $3 …   the command that attaches
#
# What is typed while the way is lost reaches nobody: it would come to an agent that its writer does not see.

box=$1
socket=$2
shift 2

readonly longest=16 # seconds between two tries at most; a connection that comes up is used within one

# The terminal as it was found. Nothing typed here ends or stops this script.
found=$(stty -g)
trap '' INT QUIT TSTP
trap 'show' WINCH

# What a program that was cut off leaves behind: mouse, pasting, keypad, a region that scrolls, its other character
# set. The picture, and whether it is the alternate one, stays.
calm() {
    stty "$found"
    stty -echo -icanon -isig min 0 time 10
    printf '\033[?1000l\033[?1002l\033[?1003l\033[?1005l\033[?1006l\033[?1004l\033[?2004l\033[?1l\033>\033(B\017\033[r'
}

# Says how it stands in the last line, not wrapped where that is short. Called for each change of the size too.
show() {
    [ -n "$words" ] || return 0
    if [ "$day" = "$(date +%Y-%m-%d)" ]; then since=$time; else since="$day $time"; fi
    printf '\0337\033[?7l\033[999;1H\033[0;7m\033[K %s: %s since %s, trying again \033[0m\033[?7h\0338' "$box" "$words" "$since"
}

# Waits so many seconds, or until a connection comes up that was not there. What is typed meanwhile is read away:
# each read takes a second, or less if something was typed, so the clock is looked at and not the reads counted.
rest() {
    until=$(($(date +%s) + $1))
    if [ -S "$socket" ]; then there=yes; else there=; fi
    while [ "$(date +%s)" -lt "$until" ]; do
        dd bs=4096 count=1 >/dev/null 2>&1
        # The terminal is gone: then a read takes no time at all.
        [ -t 0 ] || exit 0
        if [ -z "$there" ] && [ -S "$socket" ]; then return; fi
    done
}

# Tells whether the window is in front of a client. tmux lets its socket be executed while any client is attached: to
# look at that costs no process.
looked_at() {
    [ -n "${TMUX-}" ] || return 0
    [ -x "${TMUX%%,*}" ] || return 1
    front=$(tmux display-message -p -t "$TMUX_PANE" '#{?session_attached,#{window_active},0}' 2>/dev/null)
    [ "$front" != 0 ]
}

# A client of a shared connection survives the end of its terminal (ssh 9.2: a signal only makes it read on), and with
# it what it attached there. So it is killed, by a shell that hears of the end: the first one, which leads the session,
# dies of that, and then those that it started are told.
attach() {
    "$@" <&4 >&3 3>&- 4<&- &
    client=$!
    trap 'kill -9 $client' HUP TERM
    # Not holding what tells of the client's end.
    while sleep 10; do looked_at || kill -9 $client; done >/dev/null 2>&1 3>&- 4<&- &
    looking=$!
    wait $client
    status=$?
    kill $looking
    return $status
}

words=
before=
pause=1
exec 3>&1 4<&0
calm
while :; do
    until looked_at; do
        dd bs=4096 count=1 >/dev/null 2>&1
        [ -t 0 ] || exit 0
    done
    # Its words apart from the terminal, which shows the box; what is typed from here on is the box's.
    stty "$found"
    began=$(date +%s)
    said=$(attach "$@" 2>&1)
    status=$?
    calm
    # Where it showed something, what follows is news, even if it is what was before.
    if [ $(($(date +%s) - began)) -ge 3 ] || [ $status = 0 ]; then
        before=
        pause=1
    fi
    case $status:$said in
    137:*) continue ;; # nobody looks any more
    0:*) words='closed there' ;;
    255:*'session request failed'*) words='too many sessions over its one connection' ;;
    255:*) words=unreachable ;;
    *) words='nothing runs there' ;;
    esac
    if [ "$words" != "$before" ]; then
        before=$words
        day=$(date +%Y-%m-%d)
        time=$(date +%H:%M)
    fi
    show
    rest $pause
    words=
    if [ $pause -lt $longest ]; then pause=$((pause * 2)); fi
done
