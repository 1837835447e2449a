#!/usr/bin/env python3
"""check_pack.py PACK [QUESTIONS.jsonl] — a hand-written pack is whole, its intents apart, its test questions unseen.

Fails on: bad TOML; fewer phrasings or answers than a shipped pack promises; one phrasing in two intents or among the
negatives; an answer with a slot nobody defines; no answer that can do without slots but those that are asked for; a test
question that is a phrasing, or two equal ones; a label the pack does not know.
"""
import json
import pathlib
import re
import sys
import tomllib
import unicodedata

MIN_INTENTS, MIN_PHRASINGS, MIN_ANSWERS, MIN_NEGATIVES = 40, 12, 2, 120


def normal(text):
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]+", "", folded) or folded


def read(path):
    with open(path, "rb") as file:
        return tomllib.load(file)


class Check:
    def __init__(self, pack):
        self.pack = pathlib.Path(pack)
        self.languages = read(self.pack / "pack.toml")["languages"]
        self.owner = {}  # (language, normal form) -> intent
        self.intents = set()
        self.faults = []

    def need(self, good, reason):
        if not good:
            self.faults.append(reason)

    def take(self, language, phrasing, label, where):
        key = (language, normal(phrasing))
        earlier = self.owner.setdefault(key, label)
        self.need(key not in where, f"{label}.{language}: '{phrasing}' is there twice")
        self.need(earlier == label, f"'{phrasing}' ({language}) is in {earlier} and in {label}")
        where.add(key)

    def intent(self, intent):
        name = intent["name"]
        self.need(re.fullmatch(r"[a-z][a-z0-9_]*", name), f"{name}: not a name")
        self.need(name not in self.intents, f"{name}: defined twice")
        self.intents.add(name)
        slots = set(intent.get("slots", {}))
        for language in self.languages:
            part, where = intent.get(language, {}), set()
            phrasings, answers = part.get("phrasings", []), part.get("answers", [])
            self.need(len(phrasings) >= MIN_PHRASINGS, f"{name}.{language}: {len(phrasings)} phrasings")
            self.need(len(answers) >= MIN_ANSWERS, f"{name}.{language}: {len(answers)} answers")
            used = [set(re.findall(r"\{(\w+)", answer)) for answer in answers]
            asked = {slot for slot, how in intent.get("slots", {}).items() if language in how.get("ask", {})}
            self.need(any(one <= asked for one in used), f"{name}.{language}: every answer needs a slot")
            self.need(all(one <= slots for one in used), f"{name}.{language}: an answer uses an undefined slot")
            for phrasing in phrasings:
                self.take(language, phrasing, name, where)

    def read_pack(self):
        for path in sorted((self.pack / "intents").glob("*.toml")):
            for intent in read(path)["intent"]:
                self.intent(intent)
        self.need(len(self.intents) >= MIN_INTENTS, f"{len(self.intents)} intents")
        negatives = [read(path) for path in sorted((self.pack / "negatives").glob("*.toml"))]
        for language in self.languages:
            where = set()
            for phrasing in (p for file in negatives for p in file.get(language, {}).get("phrasings", [])):
                self.take(language, phrasing, "oos", where)
            self.need(len(where) >= MIN_NEGATIVES, f"{len(where)} negatives in {language}")

    def read_questions(self, path):
        seen = set()
        lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
        for row in map(json.loads, lines):
            key = (row["lang"], normal(row["text"]))
            self.need(row["label"] == "oos" or row["label"] in self.intents, f"{path}: no intent {row['label']}")
            self.need(key not in self.owner, f"{path}: '{row['text']}' is a phrasing")
            self.need(key not in seen, f"{path}: '{row['text']}' is there twice")
            seen.add(key)
        return len(lines)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    check = Check(sys.argv[1])
    check.read_pack()
    questions = check.read_questions(sys.argv[2]) if len(sys.argv) == 3 else 0
    for fault in check.faults:
        print(fault)
    counts = {l: sum(1 for (language, _), label in check.owner.items() if language == l and label != "oos")
              for l in check.languages}
    negatives = {l: sum(1 for (language, _), label in check.owner.items() if language == l and label == "oos")
                 for l in check.languages}
    print(f"{len(check.intents)} intents, phrasings {counts}, negatives {negatives}, {questions} test questions")
    sys.exit(1 if check.faults else 0)


if __name__ == "__main__":
    main()
