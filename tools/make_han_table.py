#!/usr/bin/env python3
"""Writes src/train/noise_han.cc: which common characters sound alike and which look alike, from the Unihan database.

Usage: make_han_table.py [FOLDER] >src/train/noise_han.cc   FOLDER of Unihan_*.txt.bz2 (Debian's unicode-data 15.0.0)

Characters: GB 2312 level 1, and whatever else of GB 2312 the frequency list names. Sound: kHanyuPinlu with its counts, else
kMandarin; tones are dropped, as input methods drop them. Shape: 0.5 x overlap of the Cangjie codes (what a character
is composed of) + 0.3 x equal digits of the four-corner code + 0.2 x nearness of the stroke counts.
"""
import bz2
import collections
import math
import pathlib
import sys
import unicodedata

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode")
ALIKE, MOST = 0.72, 4  # similarity from which two characters are mistaken for each other; how many are kept
COLUMNS = 56  # Han characters a line

Row = collections.defaultdict[str, dict[str, str]]


def read() -> Row:
    rows: Row = collections.defaultdict(dict)
    for path in sorted(FOLDER.glob("Unihan_*.txt.bz2")):
        for line in bz2.open(path, "rt", encoding="utf-8"):
            if line.startswith("U+"):
                code, key, value = line.rstrip("\n").split("\t", 2)
                rows[chr(int(code[2:], 16))][key] = value
    return rows


def toneless(syllable: str) -> str:
    syllable = syllable.replace("ü", "v").replace("ǖ", "v").replace("ǘ", "v").replace("ǚ", "v").replace("ǜ", "v")
    return "".join(c for c in unicodedata.normalize("NFD", syllable) if "a" <= c <= "z")


def readings(row: dict[str, str]) -> dict[str, int]:
    counts: dict[str, int] = collections.defaultdict(int)
    for one in row.get("kHanyuPinlu", "").split():
        counts[toneless(one[:one.index("(")])] += int(one[one.index("(") + 1:-1])
    return counts or {toneless(row["kMandarin"].split()[0]): 0}


def overlap(a: str, b: str) -> float:  # longest common subsequence
    lengths = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for j, y in enumerate(b):
            here = lengths[j + 1]
            lengths[j + 1] = before + 1 if x == y else max(here, lengths[j])
            before = here
    return 2 * lengths[-1] / (len(a) + len(b))


def shape(row: dict[str, str]) -> tuple[str, str, int]:
    return row["kCangjie"].split()[0], row.get("kFourCornerCode", "").split(" ")[0][:4], int(row["kTotalStrokes"].split()[0])


def similarity(a: tuple[str, str, int], b: tuple[str, str, int]) -> float:
    if abs(a[2] - b[2]) > 3:
        return 0
    corners = sum(x == y for x, y in zip(a[1], b[1])) / 4
    return 0.5 * overlap(a[0], b[0]) + 0.3 * corners + 0.2 * (1 - abs(a[2] - b[2]) / max(a[2], b[2]))


def wrapped(tokens: list[str]) -> str:
    lines, width = [""], 0
    for token in tokens:
        size = len(token) + 1
        if width + size > COLUMNS:
            lines.append("")
            width = 0
        lines[-1] += (" " if width else "") + token
        width += size
    return "\n".join(lines)


def sounds(rows: Row, common: list[str]) -> list[str]:
    by_syllable: dict[str, list[tuple[int, str]]] = collections.defaultdict(list)
    for c in common:
        for syllable, count in readings(rows[c]).items():
            by_syllable[syllable].append((count, c))
    tokens = []
    for syllable, members in sorted(by_syllable.items()):
        members.sort(key=lambda m: (-m[0], m[1]))
        for at in range(0, len(members), 20):
            tokens.append(syllable + "".join(c + str(min(9, int(math.log2(n + 1) / 1.7))) for n, c in members[at:at + 20]))
    return tokens


def shapes(rows: Row, common: list[str]) -> list[str]:
    known = {c: shape(rows[c]) for c in common}
    tokens = []
    for c in common:
        alike = sorted(((similarity(known[c], known[other]), other) for other in common if other != c), reverse=True)
        near = [other for value, other in alike[:MOST] if value >= ALIKE]
        if near:
            tokens.append(c + "".join(near))
    return tokens


def main() -> None:
    rows = read()
    if not rows:
        sys.exit(f"{FOLDER}: no Unihan_*.txt.bz2; install Debian's unicode-data")
    common = sorted(c for c, row in rows.items()
                    if "kGB0" in row and (int(row["kGB0"]) < 5600 or "kHanyuPinlu" in row))
    print(f"""// noise_han.cc — written by tools/make_han_table.py from the Unihan database 15.0.0 (NOTICE says whose it is).

#include "train/noise_tables.h"

namespace hengshi::train {{

std::string_view han_by_sound() {{
  return R"(
{wrapped(sounds(rows, common))}
)";
}}

std::string_view han_by_shape() {{
  return R"(
{wrapped(shapes(rows, common))}
)";
}}

}}  // namespace hengshi::train""")


main()
