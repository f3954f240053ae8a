#!/bin/bash
# An agent that is done at once: it reports what its order asks for, and ends. $1 is how many subtasks a plan has. If
# there is a $2, the work on each takes that many seconds, and changes a file of its own.
case $ORCHESTRATOR_STEP in
dev:*)
    echo "$ORCHESTRATOR_STEP" >"work${2:+-${ORCHESTRATOR_STEP#dev:}}"
    sleep "${2:-0}"
    ;;
esac

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
        for ((n = 1; n <= $1; n++)); do printf -- '- [s%d] Do part %d\n' "$n" "$n"; done
        ;;
    accept) printf '\n## Success Criteria\n- [x] It was measured (evidence: `%s`)\n' README.md ;;
    esac
} >"$ORCHESTRATOR_SCRATCHPAD/report"
mv "$ORCHESTRATOR_SCRATCHPAD/report" "$ORCHESTRATOR_TASK_DIR/handoffs/$ORCHESTRATOR_AGENT-$stamp.md"
