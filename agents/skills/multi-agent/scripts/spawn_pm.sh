#!/usr/bin/env bash
# spawn_pm.sh NAME --project PATH: `task start`.
set -euo pipefail
exec "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/task" start "$@"
