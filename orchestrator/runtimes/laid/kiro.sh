#!/bin/sh
# Runs Kiro CLI with a configuration folder of the task's own, which holds the agent that this run is: Kiro reads agents
# from there and from the project only, and keeps its conversations there (see `runtimes/kiro.py`).
#
#   kiro.sh WORD...   what follows `kiro-cli`

umask 077
folder=${0%/*}
export KIRO_HOME="${folder%/*/*}/kiro"
mkdir -p "$KIRO_HOME/agents" && cp "$folder/kiro-agent.json" "$KIRO_HOME/agents/${folder##*/}.json" || exit 1
exec kiro-cli "$@"
