#!/bin/sh
# The hook ahead of each of Kiro's tools: 0 lets it run, 2 does not and tells the agent why. Kiro lets it run at any other
# status, so there is none.

answer=$(sh "${0%/*}/caution.sh" 2>/dev/null)
if [ -z "$answer" ]; then
    answer=$(sh "${0%/*}/relay.sh" waits 'deny The PM cannot be asked just now. Do without, or hand in BLOCKED.') || answer=
fi
if [ "$answer" = allow ]; then exit 0; fi
answer=${answer#deny }
printf '%s\n' "${answer:-The PM gives no leave for this.}" >&2
exit 2
