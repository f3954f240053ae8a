#!/bin/sh
# Starts Gemini CLI in a home of its run's own, which `gemini-home.mjs` makes. What it is given is passed on.

here=${0%/*}
node "$here/gemini-home.mjs" "${GEMINI_CLI_HOME:-$HOME}/.gemini" || exit 1
GEMINI_CLI_HOME=$here/home
export GEMINI_CLI_HOME
exec gemini "$@"
