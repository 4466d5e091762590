set -eu
cd /work/recipes
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
test "$(git show rescued:bread.txt)" = 'flour, water, salt, time'
test "$(git log -1 --format=%s rescued)" = 'Add bread'
test "$(git log --format=%s main)" = 'Add soup'
test "$(git rev-parse rescued~1)" = "$(git rev-parse main)"
