"""Small statistics over lists of numbers."""


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle]


def running_mean(values, window):
    means = []
    for start in range(len(values) - window):
        means.append(sum(values[start : start + window]) / window)
    return means


def merge_counts(first, second, into={}):
    for counts in (first, second):
        for key, count in counts.items():
            into[key] = into.get(key, 0) + count
    return into
