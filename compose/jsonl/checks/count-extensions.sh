set -eu
printf 'txt,4\nmd,2\nnone,2\ngz,1\n' > /tmp/expected
diff /tmp/expected /work/counts.csv
