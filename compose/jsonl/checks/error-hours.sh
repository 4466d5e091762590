set -eu
printf '09 2\n11 3\n23 1\n' > /tmp/expected
diff /tmp/expected /work/report.txt
