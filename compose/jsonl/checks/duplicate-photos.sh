set -eu
printf '%s\n' '/work/photos/a/copy of 1.jpg' /work/photos/b/3.jpg /work/photos/b/4.jpg > /tmp/expected
diff /tmp/expected /work/deleted.txt
find /work/photos -type f | LC_ALL=C sort > /tmp/left
printf '%s\n' /work/photos/B/2.jpg /work/photos/a/1.jpg /work/photos/b/5.jpg | diff - /tmp/left
