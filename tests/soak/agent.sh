#!/bin/sh
# An agent of every role for a soak: `agent.sh FOLDER`. It mostly sleeps, for up to as many seconds as FOLDER/pace says,
# and then does its work as it should; of a hundred lives a few crash, say nothing, talk nonsense, reject or flood, by
# their run's id.
set -u

run=$ORCHESTRATOR_RUN step=$ORCHESTRATOR_STEP agent=$ORCHESTRATOR_AGENT task=$ORCHESTRATOR_TASK_DIR
echo "$run $step $ORCHESTRATOR_ATTEMPT $$" >>"$1/runs"
dice=$((0x${run#r-}))
chance=$((dice % 100))
echo "$agent works on $step"
read -r pace <"$1/pace"
sleep "$((dice / 100 % pace)).$((dice / 7 % 10))"

artifact="$ORCHESTRATOR_ARTIFACTS/$(echo "$step" | tr ':' '-').md"
echo "by $run" >"$artifact"
case $agent in
dev*)
    mkdir -p "$ORCHESTRATOR_WORKSPACE/pkg"
    echo "NAME = '$run'" >"$ORCHESTRATOR_WORKSPACE/pkg/$(echo "$step" | tr ':-' '__').py"
    ;;
esac

claimed=$artifact verdict=APPROVED
case $chance in
0) exit 7 ;;
1) kill -KILL $$ ;;
2) exit 0 ;;
3) claimed=artifacts/not-there.md ;;
4 | 5) verdict=REJECTED ;;
6) yes "a flood of $run" | head -c 1000000 ;;
esac

unfinished=$ORCHESTRATOR_SCRATCHPAD/unfinished
{
    echo "# Handoff: $agent"
    if [ "$chance" != 7 ]; then echo "**Status:** COMPLETE"; fi
    echo "**Run:** $run"
    echo "**In reply to:** $ORCHESTRATOR_REPLY_TO"
    case $agent in test* | review*) echo "**Verdict:** $verdict" ;; esac
    printf '\n## Completed Work\n%s is done.\n\n## Artifacts Generated\n- %s\n' "$step" "$claimed"
    case $step in
    plan) printf '\n## Subtasks\n- [round%s] Write it down (agent: dev)\n' "$ORCHESTRATOR_ATTEMPT" ;;
    accept) printf '\n## Success Criteria\n- [x] It is there. (evidence: %s)\n' "$artifact" ;;
    esac
} >"$unfinished"
# A name is never overwritten: the next free second is taken.
until ln "$unfinished" "$task/handoffs/$agent-$(date +%Y%m%d-%H%M%S).md" 2>/dev/null; do sleep 0.3; done
if [ "$chance" = 8 ]; then cp "$unfinished" "$task/handoffs/$agent-20260101-000000.md"; fi
rm -f "$unfinished"
