#!/bin/bash
# The agent of the benchmarks. Says when it began, waits for its turn, reports, says when it ends. Nothing but
# bash itself stands between its first instruction and the moment that it writes.
#
# $1 is a folder: `begun` and `ended` take a line per run, `turn` is a pipe.
printf '%s %s\n' "$ORCHESTRATOR_RUN" "${EPOCHREALTIME/[.,]/}" >>"$1/begun"
read -r subtasks <"$1/turn"

case $ORCHESTRATOR_STEP in dev[:-]*) echo "$ORCHESTRATOR_STEP" >work ;; esac

second=$EPOCHSECONDS
printf -v stamp '%(%Y%m%d-%H%M%S)T' "$second"
while [[ -e $ORCHESTRATOR_TASK_DIR/handoffs/$ORCHESTRATOR_AGENT-$stamp.md ]]; do
    printf -v stamp '%(%Y%m%d-%H%M%S)T' "$((++second))"
done
{
    printf '# Handoff: %s\n**Status:** COMPLETE\n**Run:** %s\n' "$ORCHESTRATOR_AGENT" "$ORCHESTRATOR_RUN"
    printf '**Verdict:** APPROVED\n\n## Completed Work\nDone.\n\n## Artifacts Generated\nNone\n'
    case $ORCHESTRATOR_STEP in
    plan)
        printf '\n## Subtasks\n'
        for ((n = 1; n <= subtasks; n++)); do printf -- '- [s%d] Do part %d\n' "$n" "$n"; done
        ;;
    accept) printf '\n## Success Criteria\n- [x] It was measured (evidence: `%s`)\n' README.md ;;
    esac
} >"$ORCHESTRATOR_SCRATCHPAD/report"
mv "$ORCHESTRATOR_SCRATCHPAD/report" "$ORCHESTRATOR_TASK_DIR/handoffs/$ORCHESTRATOR_AGENT-$stamp.md"

printf '%s %s\n' "$ORCHESTRATOR_RUN" "${EPOCHREALTIME/[.,]/}" >>"$1/ended"
