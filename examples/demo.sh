#!/bin/sh
# The command line on the bundled data: run by `make demo`, after examples/demo.py.
set -eu
PATH="${BIN:+$BIN:}$PATH"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

say() { printf '\n$ %s\n' "$*"; "$@"; }

printf '\nThe same from the command line, on files\n----------------------------------------\n'
bin=$(command -v fastmmd)
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
fastmmd() { "$bin" "$@"; }
fastmmd demo "$folder" > /dev/null
cd "$folder"
say fastmmd test july.csv october.csv
say fastmmd test weather.parquet --by coin
say fastmmd sketch july.csv -o july.mmd
say fastmmd sketch october.csv -o october.mmd --like july.mmd
say fastmmd compare july.mmd october.mmd
cat << 'END'

The effect is larger than that of `test` because the second sketch has the scales of the
first: those of July alone, where `test` took them from both months. And all of these tests
count hours as independent rows, which they are not: go by the effect, not by the tiny p.
END
printf '\nNext: docs/tutorial-command-line.md\n'
