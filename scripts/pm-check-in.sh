#!/usr/bin/env bash
# pm-check-in.sh NAME [--project PATH]: `task checkin`. From cron it does no harm beside the daemon's own schedule:
#   */10 * * * * /path/to/scripts/pm-check-in.sh NAME --project PATH >/dev/null
set -euo pipefail
exec "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/task" checkin "$@"
