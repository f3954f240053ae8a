#!/bin/sh
# memory-write.sh CONTENT TYPE IMPORTANCE TAGS: keeps what was learned as memories/ID.json in $ORCHESTRATOR_DATA (data/ where
# you stand, if that is not set), and prints its id. For agents and for people.
#   memory-write.sh "What was learned" procedural 0.8 '["pattern", "tests"]'
set -u
LC_ALL=C
export LC_ALL

fail() {
    printf 'memory-write.sh: %s\n' "$1" >&2
    exit 2
}

[ $# -eq 4 ] || fail "usage: memory-write.sh CONTENT TYPE IMPORTANCE TAGS, such as 'What was learned' semantic 0.8 '[\"tag\"]'"
content=$1 kind=$2 importance=$3 tags=$4

case $content in *[![:space:]]*) ;; *) fail 'CONTENT is empty: write what was learned' ;; esac
[ ${#content} -le 65536 ] || fail 'CONTENT is longer than 65536 bytes: write a file and name it'
case $kind in episodic | procedural | semantic) ;; *) fail 'TYPE is episodic, procedural or semantic' ;; esac
case $importance in
0 | 1) ;;
0.*[!0-9]* | 1.*[!0]* | 0. | 1. | ?????????*) fail 'IMPORTANCE is a number from 0 to 1, such as 0.8' ;;
0.* | 1.*) ;;
*) fail 'IMPORTANCE is a number from 0 to 1, such as 0.8' ;;
esac
[ ${#tags} -le 4096 ] || fail 'TAGS are longer than 4096 bytes: choose fewer'
case $content$tags in
*[!\ -~]*)
    if command -v iconv >/dev/null 2>&1; then
        printf '%s' "$content$tags" | iconv -f UTF-8 -t UTF-8 >/dev/null 2>&1 || fail 'CONTENT or TAGS are not UTF-8'
    fi
    ;;
esac

folder=${ORCHESTRATOR_DATA:-data}/memories
mkdir -p "$folder" 2>/dev/null || fail "$folder cannot be made"
[ ! -L "$folder" ] || fail "$folder is a link: put the folder in its place"
[ -w "$folder" ] || fail "$folder cannot be written"

made=$(mktemp "$folder/.memory-write-XXXXXX") || fail "$folder cannot be written"
trap 'rm -f "$made"' EXIT
trap 'exit 130' HUP INT TERM

# The id is that of a name which nobody has: a link is made only if there is none.
tries=0
while :; do
    id=mem_$(date +%s)_$(od -An -N4 -tx1 /dev/urandom | tr -d ' \n')
    ID=$id CONTENT=$content KIND=$kind IMPORTANCE=$importance TAGS=$tags NOW=$(date -u +%Y-%m-%dT%H:%M:%SZ) awk '
        function bad(reason) {
            printf "memory-write.sh: %s\n", reason | "cat >&2"
            close("cat >&2")
            exit 2
        }
        function odd() { bad("TAGS is a JSON list of texts, such as [\"tests\", \"pattern\"]") }
        function skip() { while (p <= n && index(" \t\n\r", substr(text, p, 1))) p++ }
        function string(   begin, sign) {
            begin = p++
            while (p <= n && (sign = substr(text, p, 1)) != "\"") p += sign == "\\" ? 2 : 1
            if (p++ > n) odd()
            return substr(text, begin, p - begin)
        }
        function quoted(said,   i, sign, made) {
            if (said ~ /[\001-\010\013-\037\177]/) bad("CONTENT holds a control character: take it out")
            if (said !~ /["\\\n\t]/) return "\"" said "\""
            for (i = 1; i <= length(said); i++) {
                sign = substr(said, i, 1)
                made = made (sign == "\n" ? "\\n" : sign == "\t" ? "\\t" : index("\"\\", sign) ? "\\" sign : sign)
            }
            return "\"" made "\""
        }
        function tagged(   count, made, tag) {
            text = ENVIRON["TAGS"]
            n = length(text)
            p = 1
            skip()
            if (substr(text, p++, 1) != "[") odd()
            skip()
            while (substr(text, p, 1) != "]") {
                if (substr(text, p, 1) != "\"") odd()
                tag = string()
                if (tag ~ /\\/ || tag ~ /[\001-\037\177]/) bad("a tag holds no backslash and no control character")
                if (tag ~ /^" *"$/ || length(tag) > 66) bad("a tag has 1 to 64 bytes")
                made = made (count++ ? ", " : "") tag
                skip()
                if (substr(text, p, 1) == ",") { p++; skip(); if (substr(text, p, 1) == "]") odd() }
                else if (substr(text, p, 1) != "]") odd()
            }
            p++
            skip()
            if (p <= n) odd()
            if (!count) bad("TAGS is empty: give one at least, so that it is found again")
            return "[" made "]"
        }
        BEGIN {
            content = quoted(ENVIRON["CONTENT"])
            tags = tagged()
            printf "{\n  \"id\": \"%s\",\n  \"content\": ", ENVIRON["ID"]
            printf "%s", content
            printf ",\n  \"type\": \"%s\",\n  \"importance\": %s,\n", ENVIRON["KIND"], ENVIRON["IMPORTANCE"]
            printf "  \"tags\": %s,\n  \"created\": \"%s\"\n}\n", tags, ENVIRON["NOW"]
        }
    ' >"$made" || exit 2
    ln "$made" "$folder/$id.json" 2>/dev/null && break
    tries=$((tries + 1))
    [ $tries -lt 5 ] || fail "$folder cannot be written"
done
printf '%s\n' "$id"
