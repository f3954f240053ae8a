#!/bin/bash
# An agent of a workflow. Says when it began, waits for its turn, says when its turn ends, and exits. Its files are
# written by who gives it the turn. An agent that only has to run rests.
#
# $1 is a folder: `begun` and `ended` take a line per step, `turn` is a pipe.
printf '%s %s\n' "$ORCHESTRATOR_STEP" "${EPOCHREALTIME/[.,]/}" >>"$1/begun"
case $ORCHESTRATOR_STEP in
*:hub_*) read -r _ <"$1/turn" ;;
*) exec sleep 3600 ;;
esac
printf '%s %s\n' "$ORCHESTRATOR_STEP" "${EPOCHREALTIME/[.,]/}" >>"$1/ended"
