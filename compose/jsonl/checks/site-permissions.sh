set -eu
cd /work/site
find . -printf '%m %y %p\n' | LC_ALL=C sort -k 3 > /tmp/modes
cat > /tmp/expected <<'END'
755 d .
755 d ./assets
644 f ./assets/a b.css
777 l ./assets/outside
755 f ./deploy.sh
644 f ./index.html
755 d ./private
644 f ./private/.env
755 f ./private/run.sh
END
diff /tmp/expected /tmp/modes
test "$(stat -c %a /work/secret.txt)" = 600
