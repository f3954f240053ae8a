#!/usr/bin/env bash
# pm-check-in.sh NAME [--project PATH]: `task checkin`.
set -euo pipefail
exec "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/task" checkin "$@"
