#!/bin/sh
# Gives a program that touches no file its order on standard input, shows what it writes to standard output, and keeps
# that for the PM, which carries out the file operations in it (`hands: operations`). Each run has its own copy of this
# file.
#
#   hands.sh ORDER BYTES WORD...   ORDER is the file that holds the order, WORD... the program with its arguments;
#                                  BYTES is how much the PM reads
#
# It ends as the program does. Of what is longer one byte more than the PM reads is kept: the program's next write ends
# it, and the PM reports what was wrong.

folder=${0%/*}
order=$1
most=$2
shift 2
rm -f "$folder/answer-status" "$folder/answer-cut"
{
    "$@" <"$order"
    echo $? >"$folder/answer-status"
} | {
    head -c "$((most + 1))" || : >"$folder/answer-cut"
} | tee "$folder/answer.txt" || exit 74 # what is cut off must not be taken for whole
if [ -e "$folder/answer-cut" ]; then exit 74; fi
if [ "$(wc -c <"$folder/answer.txt")" -gt "$most" ]; then exit 0; fi
read -r status <"$folder/answer-status" || exit 74
exit "$status"
