set -eu
rm -rf '/tmp/back ups' && mkdir -p '/tmp/back ups/backup-dir.tar' && cd '/tmp/back ups'
for day in 1 2 3 4 5; do touch --date "2026-01-0$day" "backup-$day x.tar"; done
touch --date 2020-01-01 notes.txt backup-old.zip
touch --date 2026-02-01 'backup-0.tar'
/work/rotate.sh '/tmp/back ups' 2
ls -A > /tmp/left
printf '%s\n' backup-0.tar 'backup-5 x.tar' backup-dir.tar backup-old.zip notes.txt | diff - /tmp/left
/work/rotate.sh '/tmp/back ups' 100
ls -A | diff - /tmp/left
for arguments in '' '/tmp' '/absent 1' '/tmp 0' '/tmp many'; do
  status=0
  /work/rotate.sh $arguments 2> /dev/null || status=$?
  test "$status" -eq 2
done
