#!/bin/bash
# An agent that can never go on: it reports that it is blocked, and ends.
second=$EPOCHSECONDS
printf -v stamp '%(%Y%m%d-%H%M%S)T' "$second"
while [[ -e $ORCHESTRATOR_TASK_DIR/handoffs/$ORCHESTRATOR_AGENT-$stamp.md ]]; do
    printf -v stamp '%(%Y%m%d-%H%M%S)T' "$((++second))"
done
{
    printf '# Handoff: %s\n**Status:** BLOCKED\n**Run:** %s\n' "$ORCHESTRATOR_AGENT" "$ORCHESTRATOR_RUN"
    printf '\n## Completed Work\nNothing.\n\n## Blockers\nNobody said which of two.\n'
} >"$ORCHESTRATOR_SCRATCHPAD/report"
mv "$ORCHESTRATOR_SCRATCHPAD/report" "$ORCHESTRATOR_TASK_DIR/handoffs/$ORCHESTRATOR_AGENT-$stamp.md"
