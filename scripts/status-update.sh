#!/bin/sh
# status-update.sh AGENT KEY VALUE: changes one field of an agent's status, agent-status/AGENT.json in $ORCHESTRATOR_DATA.
# If that is not set: in data/ of the task in a run, else in data/ where you stand. For agents and for people; many at
# once lose nothing of each other.
#   status-update.sh agent-impl-001 status active          # or idle
#   status-update.sh agent-impl-001 findings "A finding"   # adds one, as does blockedBy; "" removes all
#   status-update.sh agent-impl-001 nextRole ""            # nothing
set -u
LC_ALL=C
export LC_ALL

fail() {
    printf 'status-update.sh: %s\n' "$1" >&2
    exit 2
}

[ $# -eq 3 ] || fail 'usage: status-update.sh AGENT KEY VALUE (put VALUE in quotes; "" removes it)'
agent=$1 key=$2 value=$3

case $agent in
'' | [!a-z0-9]* | *[!a-z0-9_-]*) fail "the name of an agent has a-z, 0-9, '_' and '-', the first a letter or a digit" ;;
esac
[ ${#agent} -le 64 ] || fail 'the name of an agent has 64 characters at most'
if [ -n "${ORCHESTRATOR_AGENT:-}" ] && [ "$ORCHESTRATOR_AGENT" != "$agent" ]; then
    fail "you are $ORCHESTRATOR_AGENT: an agent writes its own status only"
fi

roles='PLANNER, IMPLEMENTER, AUDITOR, CLEANER or ORCHESTRATOR'
case $key in
status)
    case $value in active | idle) ;; *) fail 'status is active or idle' ;; esac
    ;;
role | nextRole)
    case $value in
    '' | PLANNER | IMPLEMENTER | AUDITOR | CLEANER | ORCHESTRATOR) ;;
    *) fail "$key is $roles, or \"\"" ;;
    esac
    ;;
waitingFor)
    case $value in
    '' | approval | dependency | resource | clarification) ;;
    *) fail 'waitingFor is approval, dependency, resource or clarification, or ""' ;;
    esac
    ;;
progress)
    case $value in
    '' | 0 | 1) ;;
    0.*[!0-9]* | 1.*[!0]* | 0. | 1. | ?????????*) fail 'progress is a fraction from 0 to 1, such as 0.75, or ""' ;;
    0.* | 1.*) ;;
    *) fail 'progress is a fraction from 0 to 1, such as 0.75, or ""' ;;
    esac
    ;;
handoffId)
    case $value in
    '') ;;
    handoff_[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]_[a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9]) ;;
    *) fail 'handoffId is as handoff_1702311000000_a1b2c3d4, or ""' ;;
    esac
    ;;
currentTask | findings | blockedBy) ;;
*) fail 'KEY is status, role, currentTask, progress, findings, handoffId, nextRole, waitingFor or blockedBy' ;;
esac
[ ${#value} -le 65536 ] || fail 'VALUE is longer than 65536 bytes: write a file and name it'
case $value in
*[!\ -~]*)
    if command -v iconv >/dev/null 2>&1; then
        printf '%s' "$value" | iconv -f UTF-8 -t UTF-8 >/dev/null 2>&1 || fail 'VALUE is not UTF-8'
    fi
    ;;
esac

data=${ORCHESTRATOR_TASK_DIR:+$ORCHESTRATOR_TASK_DIR/}data
folder=${ORCHESTRATOR_DATA:-$data}/agent-status
file=$folder/$agent.json
mkdir -p "$folder" 2>/dev/null || fail "$folder cannot be made"
[ ! -L "$folder" ] || fail "$folder is a link: put the folder in its place"
[ -w "$folder" ] || fail "$folder cannot be written"

now=$(date -u +%Y-%m-%dT%H:%M:%SZ)

# One writer at a time, until this shell ends. flock lets go with the process, however that ends, and works between
# sandboxes. Without it (macOS) a link names the writer, and one that has died is removed by one at a time. While others
# wait, only awk and mv are started.
made=''
held=''
trap '[ -z "$made" ] || rm -f "$made"; [ -z "$held" ] || rm -f "$held"' EXIT
trap 'exit 130' HUP INT TERM
if command -v flock >/dev/null 2>&1; then
    exec 9<"$folder"
    flock -w 300 9 || fail "$folder is in use for five minutes: try again"
else
    tries=0
    until ln -s "$$" "$folder/.lock" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -le 2400 ] || fail "$folder/.lock is in the way for a minute: remove it and try again"
        holder=$(readlink "$folder/.lock" 2>/dev/null) || holder=''
        if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null && mkdir "$folder/.lock-break" 2>/dev/null; then
            [ "$(readlink "$folder/.lock" 2>/dev/null)" != "$holder" ] || rm -f "$folder/.lock"
            rmdir "$folder/.lock-break"
        fi
        sleep 0.02 2>/dev/null || sleep 1
    done
    held=$folder/.lock
fi

[ ! -L "$file" ] || fail "$file is a link: remove it"
base=/dev/null
if [ -e "$file" ]; then
    [ -f "$file" ] || fail "$file is no file: remove it"
    base=$file
fi
made=$folder/.status-update-$agent
if [ -e "$made" ] || [ -L "$made" ]; then
    rm -f "$made" # of a writer that was killed: no other is at work now
fi
set -C # a file that is there already is not written into

AGENT=$agent KEY=$key VALUE=$value NOW=$now awk '
    function bad(reason) {
        printf "status-update.sh: %s\n", reason | "cat >&2"
        close("cat >&2")
        failed = 1
        exit 2
    }
    function odd() { bad(ENVIRON["AGENT"] ".json does not read as the status of an agent: mend it or move it away") }
    function skip() { while (p <= n && index(" \t\n\r", substr(text, p, 1))) p++ }
    function string(   begin, sign) {
        begin = p++
        while (p <= n && (sign = substr(text, p, 1)) != "\"") p += sign == "\\" ? 2 : 1
        if (p++ > n) odd()
        return substr(text, begin, p - begin)
    }
    function value(   begin, sign, depth) {
        begin = p
        sign = substr(text, p, 1)
        if (sign == "\"") return string()
        if (sign == "{" || sign == "[") {
            do {
                sign = substr(text, p, 1)
                if (sign == "\"") { string(); continue }
                if (sign == "{" || sign == "[") depth++
                if (sign == "}" || sign == "]") depth--
                p++
            } while (depth > 0 && p <= n)
            if (depth) odd()
            return substr(text, begin, p - begin)
        }
        while (p <= n && !index(",]} \t\n\r", substr(text, p, 1))) p++
        sign = substr(text, begin, p - begin)
        if (sign !~ /^(null|true|false|-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?)$/) odd()
        return sign
    }
    function parse(   name) {
        p = 1
        n = length(text)
        skip()
        if (substr(text, p++, 1) != "{") odd()
        skip()
        while (substr(text, p, 1) != "}") {
            if (substr(text, p, 1) != "\"") odd()
            name = string()
            skip()
            if (substr(text, p++, 1) != ":") odd()
            skip()
            name = substr(name, 2, length(name) - 2)
            if (name in field) odd()
            field[name] = value()
            if (!(name in known)) more[++extra] = name
            skip()
            if (substr(text, p, 1) == ",") { p++; skip(); if (substr(text, p, 1) != "\"") odd() }
            else if (substr(text, p, 1) != "}") odd()
        }
        p++
        skip()
        if (p <= n) odd()
    }
    # The elements of a list of texts, into `item`; their number.
    function listed(raw,   count) {
        if (raw == "null") return 0
        text = raw
        n = length(text)
        p = 1
        if (substr(text, p++, 1) != "[") odd()
        skip()
        while (substr(text, p, 1) != "]") {
            if (substr(text, p, 1) != "\"") odd()
            item[++count] = string()
            skip()
            if (substr(text, p, 1) == ",") { p++; skip(); if (substr(text, p, 1) == "]") odd() }
            else if (substr(text, p, 1) != "]") odd()
        }
        return count + 0
    }
    function list(raw, added,   count, made, i) {
        count = listed(raw)
        if (added != "") item[++count] = added
        if (count > 1000) bad("there are 1000 already: clear them first by \"\"")
        if (!count) return "[]"
        made = "["
        for (i = 1; i <= count; i++) made = made (i > 1 ? "," : "") "\n    " item[i]
        return made "\n  ]"
    }
    function quoted(said,   i, sign, made) {
        if (said ~ /[\001-\010\013-\037\177]/) bad("VALUE holds a control character: take it out")
        if (said !~ /["\\\n\t]/) return "\"" said "\""
        for (i = 1; i <= length(said); i++) {
            sign = substr(said, i, 1)
            made = made (sign == "\n" ? "\\n" : sign == "\t" ? "\\t" : index("\"\\", sign) ? "\\" sign : sign)
        }
        return "\"" made "\""
    }
    function guessed(name) {
        if (name ~ /plan/) return "\"PLANNER\""
        if (name ~ /impl/) return "\"IMPLEMENTER\""
        if (name ~ /audit/) return "\"AUDITOR\""
        if (name ~ /clean/) return "\"CLEANER\""
        return name ~ /orchestrat/ ? "\"ORCHESTRATOR\"" : "null"
    }
    BEGIN {
        fields = split("agentId role status lastUpdate currentTask progress findings handoffId nextRole waitingFor blockedBy", order, " ")
        for (i = 1; i <= fields; i++) known[order[i]] = 1
    }
    {
        size += length($0) + 1
        if (size > 1048576) bad(ENVIRON["AGENT"] ".json is larger than 1 MB: move it away")
        text = text $0 "\n"
    }
    END {
        if (failed) exit 2
        agent = "\"" ENVIRON["AGENT"] "\""
        if (NR) parse()
        else {
            field["role"] = guessed(ENVIRON["AGENT"])
            field["status"] = "\"idle\""
        }
        if ("agentId" in field && field["agentId"] != agent) odd()
        field["agentId"] = agent
        field["lastUpdate"] = "\"" ENVIRON["NOW"] "\""
        key = ENVIRON["KEY"]
        said = ENVIRON["VALUE"]
        for (i = 1; i <= fields; i++) {
            name = order[i]
            listing = name == "findings" || name == "blockedBy"
            if (!(name in field)) field[name] = listing ? "[]" : "null"
            if (name == key && !listing) field[name] = said == "" ? "null" : quoted(said)
            if (listing) field[name] = list(name == key && said == "" ? "null" : field[name], name == key && said != "" ? quoted(said) : "")
        }
        made = "{\n"
        for (i = 1; i <= fields + extra; i++) {
            name = i > fields ? more[i - fields] : order[i]
            made = made "  \"" name "\": " field[name] (i < fields + extra ? "," : "") "\n"
        }
        if (length(made) > 1048576) bad(ENVIRON["AGENT"] ".json would be larger than 1 MB: clear its findings first")
        print made "}"
    }
' "$base" >"$made" || {
    status=$?
    [ "$status" -eq 2 ] && exit 2
    fail "$file cannot be written"
}
mv -f "$made" "$file" || fail "$file cannot be written"
made=''
