#!/bin/sh
# gate.sh REFERENCE DATA: 0 if all is well, 1 if the data drifted, 2 if the gate is broken.
fastmmd test "$1" "$2" --fail-on-difference --level 0.0005 --n-resamples 19999 \
  --json > drift.json
case $? in
0) echo "no drift" ;;
1) echo "drift: see drift.json" >&2; exit 1 ;;
*) echo "the gate could not run" >&2; exit 2 ;;
esac
