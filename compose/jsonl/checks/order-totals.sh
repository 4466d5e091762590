set -eu
python3 - <<'END'
import csv

with open("/work/totals.csv", newline="") as file:
    rows = list(csv.reader(file))
assert rows == [
    ["name", "total"],
    ['Hopper, Grace "Amazing"', "74.50"],
    ["Alan Turing", "20.00"],
    ["Lovelace, Ada", "5.15"],
    ["Edsger Dijkstra", "0.00"],
], rows
END
