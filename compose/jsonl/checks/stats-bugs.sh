set -eu
cd /work/stats
python3 - <<'END'
from stats import median, merge_counts, running_mean

assert median([3, 1, 2]) == 2
assert median([4, 1, 3, 2]) == 2.5
assert median([7]) == 7
assert running_mean([1, 2, 3, 4], 2) == [1.5, 2.5, 3.5]
assert running_mean([1, 2], 2) == [1.5]
assert running_mean([1], 2) == []
first, second = {"a": 1}, {"a": 2, "b": 3}
assert merge_counts(first, second) == {"a": 3, "b": 3}
assert merge_counts(first, second) == {"a": 3, "b": 3}
assert first == {"a": 1} and second == {"a": 2, "b": 3}
END
