#!/bin/sh
# Gives a program that touches no file its order on standard input, shows what it writes to standard output, and keeps
# that for the PM, which carries out the file operations in it (`hands: operations`). Each run has its own copy of this
# file.
#
#   hands.sh ORDER WORD...   ORDER is the file that holds the order, WORD... the program with its arguments
#
# It ends as the program does.

folder=${0%/*}
order=$1
shift
rm -f "$folder/answer-status"
{
    "$@" <"$order"
    echo $? >"$folder/answer-status"
} | tee "$folder/answer.txt" || exit 74 # what is cut off must not be taken for whole
read -r status <"$folder/answer-status" || exit 74
exit "$status"
