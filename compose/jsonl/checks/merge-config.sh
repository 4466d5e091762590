set -eu
python3 - <<'END'
import json

merged = json.load(open("/work/merged.json"))
assert merged == {
    "name": "app",
    "server": {"host": "0.0.0.0", "port": 8080, "tls": {"cert": "b.pem", "key": "a.key"}},
    "tags": ["new"],
    "limits": 5,
    "extra": {"on": False},
}, merged
END
