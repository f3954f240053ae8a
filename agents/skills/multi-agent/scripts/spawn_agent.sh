#!/usr/bin/env bash
# spawn_agent.sh AGENT --task-dir PROJECT/tasks/NAME --handoff FILE: `task spawn`.
set -euo pipefail
exec "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/task" spawn "$@"
