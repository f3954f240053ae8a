#!/bin/sh
# Runs aider for one order, and tells the PM that it is up and how it ended: aider itself tells nothing, and exits with 0
# whatever became of its turn. Each run has its own copy of this file, beside `relay.sh` (see `runtimes/aider.py`).
#
#   aider.sh EARLIER ORDER WORD...   EARLIER is the history of the run that is gone on with, or empty
#
# While the PM answers with a text, that is aider's next order.

umask 077
folder=${0%/*}
history=$folder/aider-history.md
log=$folder/aider-model.log
earlier=$1
order=$2
shift 2

packed() {
    base64 | tr -d '\n'
}

told() {
    printf '{"type": "%s", "status": %d, "history": "%s"' "$1" "$2" "$(printf %s "$history" | packed)"
    if [ "$1" = ended ]; then
        printf ', "chat": "%s"' "$(tail -c 40000 "$history" | packed)"
        printf ', "model": "%s"' "$(tail -c 800000 "$log" | packed)"
        printf ', "used": "%s"' "$(tail -c "+$began" "$history" | grep -e '^> Tokens: ' -e '^> Model: ' -e '^> Main model: ' | tail -n 4000 | packed)"
    fi
    printf '}'
}

# Where there is no repository it would make one.
git rev-parse --git-dir >/dev/null 2>&1 || set -- "$@" --no-git
caches=$(ls -d .aider.tags.cache.v* 2>/dev/null)
restore=
if [ -n "$earlier" ] && cp "$earlier" "$history"; then restore=--restore-chat-history; fi
# What stands there by now was used by earlier runs.
began=$(($( (cat "$history" 2>/dev/null || :) | wc -c) + 1))
told started 0 | sh "$folder/relay.sh"
while :; do
    status=0
    "$@" --chat-history-file "$history" --llm-history-file "$log" $restore "--message=$order" || status=$?
    # What it leaves in the tree would be committed with the work.
    if [ -z "$caches" ]; then rm -rf .aider.tags.cache.v*; fi
    order=$(told ended "$status" 2>/dev/null | sh "$folder/relay.sh" waits '')
    if [ -z "$order" ]; then exit "$status"; fi
    restore=--restore-chat-history
done
