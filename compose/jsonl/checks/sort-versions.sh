set -eu
printf '%s\n' 0.9.12 1.0.0-rc2 1.0.0-rc10 1.0.0 1.2.0 1.10.0 1.10.1-beta1 1.10.1 10.0.0 > /tmp/expected
diff /tmp/expected /work/sorted.txt
