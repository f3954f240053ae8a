#!/bin/sh
# Asks the PM ahead of a tool call that its program may let pass by itself. The program goes on after a hook that fails,
# so whatever keeps the answer away ends in a refusal: exit 2, with the reason on stderr. Nothing is printed that would
# widen what the program lets pass.

refuse() {
    printf '%s\n' "${1:-The PM cannot be asked for leave just now. Do without, or try again later.}" >&2
    exit 2
}

trap 'refuse' HUP INT TERM
said=$(sh "${0%/*}/relay.sh" waits '') || refuse
case $said in
    *'"decision": {"behavior": "allow"}}}') exit 0 ;;
    *'"behavior": "deny", "message": "'*) refuse "$(printf '%s\n' "$said" | sed 's/.*"message": "\(.*\)"}}}$/\1/; s/\\"/"/g')" ;;
    *) refuse ;;
esac
