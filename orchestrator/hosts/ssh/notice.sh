# Tells of what appears in folders, where a box has no python3: it looks each second. Arguments and lines are those of
# notice.py; it prints `ready look`.
#
# A folder is younger than a stamp when a name in it was made, renamed or removed. What is only written again in its place
# is left to the schedule. Each stamp is used twice, for clocks of files are coarse: a change may be told twice.

umask 077
beat=${1%.*} silence=${2%.*}
shift 2
stamps=$(mktemp -d) || exit 1
exec 3<&0
(
    while read -r _; do : >"$stamps/heard"; done <&3
    : >"$stamps/ended"
) 2>/dev/null &
listener=$!
trap 'kill "$listener"; rm -rf -- "$stamps"' EXIT 2>/dev/null
trap 'exit 0' HUP INT PIPE TERM
exec 3<&-

# Of three words the last each.
any_of_all() {
    left=$(($# / 3))
    while [ "$left" -gt 0 ]; do
        set -- "$@" "$3"
        shift 3
        left=$((left - 1))
    done
    any "$@"
}

any() {
    [ -n "$(find "$@" -type d -newer "$stamps/old" 2>/dev/null | sed q)" ]
}

tell() {
    told=
    while [ "$#" -gt 0 ]; do
        if [ "$1" != "$told" ] && any "$3"; then
            told=$1
            echo "change $told" || exit 0
        fi
        shift 3
    done
}

: >"$stamps/old"
: >"$stamps/seen"
echo 'ready look' || exit 0
rounds=0 silent=0
while :; do
    sleep 1
    if [ -e "$stamps/ended" ]; then exit 0; fi
    silent=$((silent + 1))
    if [ -e "$stamps/heard" ]; then
        rm -f -- "$stamps/heard"
        silent=0
    fi
    if [ "$silent" -gt "$silence" ]; then exit 0; fi
    rounds=$((rounds + 1))
    if [ "$((rounds % (beat > 0 ? beat : 1)))" -eq 0 ]; then echo alive || exit 0; fi
    : >"$stamps/new"
    if any_of_all "$@"; then tell "$@"; fi
    mv -f -- "$stamps/seen" "$stamps/old"
    mv -f -- "$stamps/new" "$stamps/seen"
done
