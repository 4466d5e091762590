set -eu
cd /work
python3 - <<'END'
import roman

known = {1: "I", 4: "IV", 9: "IX", 14: "XIV", 40: "XL", 90: "XC", 400: "CD", 1994: "MCMXCIV", 3999: "MMMCMXCIX"}
for number, text in known.items():
    assert roman.to_roman(number) == text, number
    assert roman.from_roman(text) == number, text
for number in range(1, 4000):
    assert roman.from_roman(roman.to_roman(number)) == number, number


def refused(function, argument):
    try:
        function(argument)
    except ValueError:
        return
    raise AssertionError(f"not refused: {argument!r}")


for number in (0, -1, 4000):
    refused(roman.to_roman, number)
for text in ("", "IIII", "VX", "IC", "MMMM", "iv", "ABC"):
    refused(roman.from_roman, text)
END
