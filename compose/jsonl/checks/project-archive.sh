set -eu
rm -rf /tmp/unpacked && mkdir /tmp/unpacked
tar --extract --gzip --file /work/project.tar.gz --directory /tmp/unpacked
cd /tmp/unpacked
find . -mindepth 1 -printf '%y %p %l\n' | LC_ALL=C sort -k 2 | sed 's/ *$//' > /tmp/found
cat > /tmp/expected <<'END'
d ./project
d ./project/bin
f ./project/bin/start
d ./project/src
l ./project/src/current index.js
f ./project/src/index.js
f ./project/temporary.txt
END
diff /tmp/expected /tmp/found
test -x project/bin/start
test "$(cat project/src/index.js)" = 'console.log(1)'
test -d /work/project/node_modules
