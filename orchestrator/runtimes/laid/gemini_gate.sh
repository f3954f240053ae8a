#!/bin/sh
# Asks the PM for leave ahead of each tool that does something. Gemini CLI goes on after a hook that fails, is killed or
# says nothing: whatever keeps the answer away has to end in a refusal that is said.

refuse() {
    printf '%s' '{"decision": "deny", "reason": "The PM cannot be asked for leave just now. Do without, or try again."}'
    exit 2
}

trap refuse HUP INT TERM
said=$(sh "${0%/*}/relay.sh" waits '') || refuse
if [ -z "$said" ]; then refuse; fi
printf '%s' "$said"
