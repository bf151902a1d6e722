#!/bin/sh
# Writes the model files and tables of this folder anew: sh make.sh EIGENLIFT. It was run once, by the version whose files
# later versions must read; what a later version writes is no evidence.
set -eu
cd "$(dirname "$0")"
cp ../fixtures/counts.npz .
grep -v '^#' commands.txt | grep . | while IFS= read -r line; do
    eval "\"$1\" $line" </dev/null >made.log 2>&1 || {
        echo "$line"
        cat made.log
        exit 1
    }
done
rm -f counts.npz made.log why.csv
