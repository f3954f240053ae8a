#!/bin/sh
# Makes a worktree ready: copies files into it, then runs commands, once for each content of what they depend on. It is
# run in the worktree, outside any agent. Each run has its own copy of this file, at whose end its own words stand.
#
# What lies in the worktree may have been made by an agent: no link there is followed.

set -u
umask 077
own=${0%/*}
stamp=.orchestrator-prepared/content
wanted=

# What was to be copied is no longer kept beside the run's log, whatever comes.
trap 'rm -f -- "$own"/copied-*' EXIT
trap 'exit 143' HUP INT TERM

fail() {
    printf 'prepare: %s\n' "$*"
    exit 1
}

# Makes the folders of a path; none of them may be a link.
make_folders() {
    rest=$1 so_far=.
    while [ -n "$rest" ]; do
        so_far=$so_far/${rest%%/*}
        case $rest in */*) rest=${rest#*/} ;; *) rest= ;; esac
        if [ -h "$so_far" ]; then fail "$so_far is a link in the worktree, and is not followed"; fi
        if [ ! -d "$so_far" ] && ! mkdir -- "$so_far"; then fail "$so_far cannot be made"; fi
    done
}

content_of() {
    if [ -h "$1" ] || [ ! -f "$1" ]; then
        echo none
    elif command -v sha256sum >/dev/null; then
        sha256sum <"$1"
    elif command -v shasum >/dev/null; then
        shasum -a 256 <"$1"
    else
        cksum <"$1"
    fi
}

# What everything depends on: a word for what task.md says and for the files that are copied, and each input.
of() {
    wanted=$1
}

input() {
    wanted="$wanted
$(content_of "$1") $1"
}

# Makes a folder that all worktrees share, beside them.
cache() {
    mkdir -p -- "$1" || fail "$1 cannot be made"
}

# A file that is copied must not get into commits.
ignored() {
    git check-ignore -q -- "$1" || fail "\`prepare.copy:\` names $1, which git does not ignore here: commits would hold it"
}

# Ends here if all was done for the same content. The stamp goes where git's clean takes away what commands have made.
unless_done() {
    make_folders .orchestrator-prepared
    if [ ! -h "$stamp" ] && [ -f "$stamp" ] && [ "$(cat -- "$stamp")" = "$wanted" ]; then
        echo 'prepare: it is ready, as nothing has changed since'
        exit 0
    fi
    rm -rf -- "$stamp" .orchestrator-prepared/.gitignore .orchestrator-prepared/new
    set -C
    echo '*' >.orchestrator-prepared/.gitignore || fail 'cannot write into the worktree'
    set +C
}

copy() {
    case $2 in */*) make_folders "${2%/*}" ;; esac
    if [ -h "$2" ]; then rm -f -- "$2"; fi
    if [ -d "$2" ]; then fail "$2 is a folder in the worktree: no file can be copied there"; fi
    chmod 600 "$own/$1" && mv -f -- "$own/$1" "$2" || fail "$2 cannot be copied into the worktree"
    printf 'prepare: copied %s\n' "$2"
}

run() {
    words=$1
    shift
    printf '+ %s\n' "$words"
    (umask 022 && exec "$@") </dev/null
    status=$?
    if [ "$status" != 0 ]; then
        # shellcheck disable=SC2016 # the signs are a reader's
        printf 'prepare: `%s` exited %s\n' "$words" "$status"
        exit "$status"
    fi
}

done_with() {
    set -C
    printf '%s\n' "$wanted" >.orchestrator-prepared/new && mv -f .orchestrator-prepared/new "$stamp" ||
        fail 'cannot write into the worktree'
}

