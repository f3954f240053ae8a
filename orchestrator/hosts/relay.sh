#!/bin/sh
# Hands what an agent program tells by its hooks to the PM: JSON on stdin becomes a file in the task's `requests/events`,
# whole or not at all. Each run has its own copy of this file, beside `launch.sh`.
#
#   relay.sh                  hands it over
#   relay.sh waits FALLBACK   and prints the PM's answer when it comes; FALLBACK where it could not be handed over
#
# The name of an event is the run's, the second, and this process; `answers/` in the run's folder holds the answer
# to it under the same name. The waiting ends with the run, as every process that it leaves behind is ended.

umask 077
folder=${0%/*}
inbox=${folder%/*/*}/requests/events
name=${folder##*/}.$(date +%s).$$
kind=json
if [ "${1-}" = waits ]; then kind=waits.json; fi

if ! { cat >"$inbox/.$name" && mv "$inbox/.$name" "$inbox/$name.$kind"; } 2>/dev/null; then
    rm -f "$inbox/.$name"
    printf '%s' "${2-}"
    exit 0
fi
if [ "${1-}" != waits ]; then exit 0; fi
while [ ! -f "$folder/answers/$name" ]; do
    sleep 0.05
done
cat "$folder/answers/$name"
