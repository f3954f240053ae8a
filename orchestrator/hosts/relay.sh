#!/bin/sh
# Hands what an agent program tells by its hooks to the PM: JSON on stdin becomes a file in the task's `requests/events`,
# whole or not at all. Each run has its own copy of this file, beside `launch.sh`.
#
#   relay.sh                  hands it over
#   relay.sh waits FALLBACK   and prints the PM's answer when it comes; FALLBACK where it could not be handed over
#
# The name of an event is the run's, the second, and this process; `answers/` in the run's folder holds the answer
# to it under the same name. The waiting ends with the run, as every process that it leaves behind is ended.
#
# A disk that is full now has room later: what cannot be written is tried again each second, for an hour. A program whose
# hook gives up before that asks at its own screen, where nobody answers.

umask 077
folder=${0%/*}
inbox=${folder%/*/*}/requests/events
name=${folder##*/}.$(date +%s).$$
kind=json
if [ "${1-}" = waits ]; then kind=waits.json; fi
tries=3600

# Held here, as it can be read once only. What ends in line breaks keeps them by the mark behind it.
said=$(cat; printf .)
said=${said%.}

until { printf '%s' "$said" >"$inbox/.$name" && mv "$inbox/.$name" "$inbox/$name.$kind"; } 2>/dev/null; do
    rm -f "$inbox/.$name"
    tries=$((tries - 1))
    # Without the folder the task itself is gone.
    if [ ! -d "$inbox" ] || [ "$tries" -le 0 ]; then
        printf '%s' "${2-}"
        exit 0
    fi
    sleep 1
done
if [ "${1-}" != waits ]; then exit 0; fi
while [ ! -f "$folder/answers/$name" ]; do
    sleep 0.05
done
cat "$folder/answers/$name"
