#!/bin/sh
# columns.sh OLD NEW COLUMN...: which of these columns drifted, at 0.001 for all together.
old=$1 new=$2
shift 2
level=$(awk "BEGIN { print 0.001 / $# }")
drifted=0
for column in "$@"; do
  fastmmd test "$old" "$new" --columns "$column" --fail-on-difference \
    --level "$level" --n-resamples 99999 --quiet > /dev/null
  case $? in
  0) ;;
  1) echo "$column drifted"; drifted=1 ;;
  *) exit 2 ;;
  esac
done
exit $drifted
