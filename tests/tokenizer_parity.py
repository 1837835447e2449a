#!/usr/bin/env python3
"""Compares tools/tokenize with PyPI `tokenizers`, id by id, on the tokenizer.json files as they are.

Usage: tokenizer_parity.py TOKENIZE_BINARY   Exit 1 at a difference; one line "skipped: …" and exit 0 when the models,
the data or the reference library are absent.
Data:  HENGSHI_DATA (default ../shared/data), HENGSHI_MODELS (default models).
"""
import json
import os
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("HENGSHI_DATA", ROOT.parent / "shared" / "data"))
MODELS = pathlib.Path(os.environ.get("HENGSHI_MODELS", ROOT / "models"))
REAL_LINES = 10_000
SHOWN = 10
FIELDS = ("text", "a", "b", "utterance", "rewrite", "prompt", "noisy", "clean")

OURS = [
    "", " ", "我的路由器怎么连不上网？", "How do I reset my router?", "iPhone 15 Pro连不上WiFi了😭", "Ｗｉ－Ｆｉ　密码是１２３４５６",
    "Crème brûlée à la française, déjà vu, naïve coöperation", "İstanbul ISTANBUL ǅ ß ẞ Σίσυφος ΣΊΣΥΦΟΣ", "e\u0301 n\u0303 \u0301 a\u0323\u0307",
    "👨‍👩‍👧‍👦 👍🏽 🇨🇳 1️⃣ ☺️", "tab\there nul\u0000 bell\u0007 del\u007f zero\u200bwidth bom\ufeff soft\u00adhyphen rlo\u202e",
    "nbsp\u00a0em\u2003ideo\u3000line\u2028para\u2029nel\u0085end", "a" * 100, "a" * 101, "的" * 300, "…——「」『』《》、。，", "$€¥£ + < = > ^ ` | ~ §¶©®™",
    "한국어 カタカナ ひらがな ﾊﾝｶｸ ไทย हिन्दी العربية עברית", "[CLS] inside [SEP] [MASK] [UNK] [PAD] [cls] [ MASK ] [[MASK]]x[MASK]y", "U+FFFD \ufffd here",
    "豈 更 車 \U0002f800 \U00020000 \U0002b740 \U0002b820 \U0002b920 \u9fff \u4dc0", "don't can't 3.14 1,000 e-mail C++ C# x^2 a_b", "\ue000 private \U000f0000",
]


def every_code_point():
    """Every character alone between letters, thirty to a line."""
    points = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and c not in (0x0A,)]
    for i in range(0, len(points), 30):
        yield " ".join(f"a{chr(c)}b" for c in points[i:i + 30])


def random_lines(count):
    pool = "".join(OURS) + "".join(map(chr, list(range(0x20, 0x250)) + list(range(0x300, 0x370)) + list(range(0x2000, 0x2070))))
    chooser = random.Random(1)
    for _ in range(count):
        yield "".join(chooser.choices(pool, k=chooser.randrange(1, 60))).replace("\n", " ")


def real_lines():
    """The same number from every file, so that no data set drowns the others."""
    files = sorted(DATA.glob("*/*.jsonl"))
    per_file = -(-REAL_LINES // max(len(files), 1)) * 2
    lines = []
    for path in files:
        texts = []
        with open(path, encoding="utf-8") as file:
            for row in map(json.loads, file):
                texts += [row[f] for f in FIELDS if isinstance(row.get(f), str)]
                if len(texts) >= per_file:
                    break
        lines += texts[:per_file]
    return [" ".join(line.split("\n")) for line in lines]


def differences(binary, tokenizer_json, lines, reference):
    run = subprocess.run([binary, str(tokenizer_json)], input="\n".join(lines) + "\n", capture_output=True, text=True,
                         check=True)
    ours = [[int(x) for x in line.split()] for line in run.stdout.splitlines()]
    if len(ours) != len(lines):
        sys.exit(f"{len(lines)} lines in, {len(ours)} out")
    theirs = [e.ids for e in reference.encode_batch(lines)]
    return [(line, a, b) for line, a, b in zip(lines, ours, theirs) if a != b]


def main():
    try:
        from tokenizers import Tokenizer
    except ImportError:
        print("skipped: the Python module tokenizers is not installed")
        return 0
    models = sorted(MODELS.glob("*/tokenizer.json"))
    if not models:
        print(f"skipped: no models in {MODELS}")
        return 0
    sets = {"our own": OURS, "every code point": list(every_code_point()), "random": list(random_lines(3000))}
    if DATA.is_dir():
        sets["real"] = real_lines()
    else:
        print(f"skipped: no data in {DATA}; the other lines are compared all the same")
    failed = 0
    for path in models:
        reference = Tokenizer.from_file(str(path))
        reference.no_padding()
        reference.no_truncation()
        for name, lines in sets.items():
            wrong = differences(sys.argv[1], path, lines, reference)
            failed += len(wrong)
            print(f"{path.parent.name:20} {name:18} {len(lines):6} lines, {len(wrong)} differ")
            for line, a, b in wrong[:SHOWN]:
                print(f"  {line!r}\n    ours   {a}\n    theirs {b}")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main())
