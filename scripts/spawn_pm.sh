#!/usr/bin/env bash
# spawn_pm.sh NAME --project PATH: `task start`, under the name that the PM has for it.
set -euo pipefail
exec "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/task" start "$@"
