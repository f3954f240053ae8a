#!/bin/sh
# The hook ahead of each tool call: says what the PM has to say to the agent, once in a run's life. It is said in the
# program's own words for a call that is not to be carried out; without such a word the call goes its way.

said="${0%/*}/answers/caution"
if [ -f "$said" ] && [ ! -f "$said.read" ] && mv "$said" "$said.read" 2>/dev/null; then
    cat "$said.read"
fi
exit 0
