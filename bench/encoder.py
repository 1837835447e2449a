#!/usr/bin/env python3
"""The encoder against ONNX Runtime int8: same weights, same ids, one thread each, alternating rounds in one run.

Usage: bench/encoder.py [--model NAME] [--jar FILE] [--build DIR] [--rounds N]
Needs: a release build (bench_encoder); Python with numpy and onnxruntime; the jar the weights came from.
Prints a table and, last, one line of JSON. Times are medians of the thread's CPU time, so that a shared machine does
not decide; ratio = ONNX Runtime's time / ours, the median over rounds: above 1, ours is faster. cosine_min is to the
fp32 forward of the same weights, over sentences of our own.
"""
import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time
import zipfile

import numpy as np
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parent.parent
LENGTHS = (8, 16, 32)
CALLS = 40
CORE = 1

SENTENCES = {
    "bge-small-zh-v1.5": ["我的路由器怎么连不上网", "怎样把音箱恢复出厂设置", "请帮我把闹钟改到明天早上七点半", "摄像头夜里看不清楚怎么办",
                          "为什么手表的电池一天就没电了", "你们的退货政策是什么", "蓝牙耳机只有一边有声音", "打印机提示卡纸", "帮我订一张去上海的车票",
                          "iPhone连不上WiFi", "扫地机器人一直在原地打转，重启了三次也没有用，是不是轮子坏了，需要送去哪里修", "灯"],
    "all-minilm-l6-v2": ["How do I reset my router?", "The printer won't connect to Wi-Fi", "My watch battery dies within a day",
                         "What is your return policy", "only one earbud has sound", "camera is blurry at night", "Turn the alarm off",
                         "Crème brûlée recipe, please", "The vacuum keeps turning in circles even after three restarts; is a wheel broken?",
                         "light", "book me a train to Edinburgh", "How many devices may share one subscription?"],
}


def read_safetensors(path):
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    tensors = {}
    for name, told in json.loads(raw[8:8 + size]).items():
        if name != "__metadata__":
            first, last = told["data_offsets"]
            tensors[name] = np.frombuffer(raw, np.float32, (last - first) // 4, 8 + size + first).reshape(told["shape"])
    return tensors


class Reference:
    """The forward pass in fp32, formula by formula."""

    def __init__(self, folder):
        self.config = json.loads((folder / "config.json").read_text())
        self.cls = json.loads((folder / "1_Pooling" / "config.json").read_text())["pooling_mode_cls_token"]
        self.weights = read_safetensors(folder / "model.safetensors")

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        mean, variance = x.mean(1, keepdims=True), x.var(1, keepdims=True)
        x = (x - mean) / np.sqrt(variance + self.config["layer_norm_eps"])
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def attention(self, x, at):
        heads = self.config["num_attention_heads"]
        q, k, v = (self.linear(x, f"{at}attention.self.{part}").reshape(len(x), heads, -1).transpose(1, 0, 2)
                   for part in ("query", "key", "value"))
        scores = np.exp(q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1]))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ v
        return self.linear(mixed.transpose(1, 0, 2).reshape(x.shape), at + "attention.output.dense")

    def forward(self, ids):
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:len(ids)]
        x = self.norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(self.config["num_hidden_layers"]):
            at = f"encoder.layer.{layer}."
            x = self.norm(self.attention(x, at) + x, at + "attention.output.LayerNorm")
            inner = self.linear(x, at + "intermediate.dense")
            inner = (inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))).astype(np.float32)
            x = self.norm(self.linear(inner, at + "output.dense") + x, at + "output.LayerNorm")
        pooled = x[0] if self.cls else x.mean(0)
        return pooled / np.linalg.norm(pooled)


class Ours:
    def __init__(self, build, folder):
        self.tokenizer = [str(build / "tokenize"), str(folder / "tokenizer.json")]
        if json.loads((folder / "hengshi.json").read_text())["lowercase"]:
            self.tokenizer.append("lowercase")
        self.process = subprocess.Popen(["taskset", "-c", str(CORE), str(build / "bench_encoder"), str(folder)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, what, ids):
        self.process.stdin.write(f"{what} {' '.join(map(str, ids))}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            sys.exit("bench_encoder ended: see above")
        return [float(x) for x in answer]

    def median_us(self, ids):
        return self.ask(f"time {CALLS}", ids)[0]

    def vector(self, ids):
        return np.array(self.ask("vector", ids))

    def tokenize(self, sentences):
        run = subprocess.run(self.tokenizer, input="\n".join(sentences) + "\n", capture_output=True, text=True, check=True)
        return [[int(x) for x in line.split()] for line in run.stdout.splitlines()]


class OnnxRuntime:
    def __init__(self, jar, cls):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        with zipfile.ZipFile(jar) as archive:
            name = next(n for n in archive.namelist() if n.endswith(".onnx"))
            self.session = onnxruntime.InferenceSession(archive.read(name), options)
        self.cls = cls

    def feed(self, ids):
        row = np.array([ids], dtype=np.int64)
        return {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}

    def median_us(self, ids):
        feed, times = self.feed(ids), []
        for _ in range(CALLS):
            start = time.thread_time_ns()
            self.session.run(None, feed)
            times.append((time.thread_time_ns() - start) / 1000)
        return statistics.median(times)

    def vector(self, ids):
        rows = self.session.run(None, self.feed(ids))[0][0]
        pooled = rows[0] if self.cls else rows.mean(0)
        return pooled / np.linalg.norm(pooled)


def find_jar(name):
    hint = {"bge-small-zh-v1.5": "bge-small-zh-v15-q", "all-minilm-l6-v2": "all-minilm-l6-v2-q"}[name]
    repository = pathlib.Path.home() / ".m2" / "repository"
    found = sorted(repository.glob(f"dev/langchain4j/langchain4j-embeddings-{hint}/*/*.jar"))
    if not found:
        sys.exit(f"no jar of {name} in {repository}: run scripts/setup, or pass --jar")
    return found[-1]


def main():
    parser = argparse.ArgumentParser(description="Times the encoder beside ONNX Runtime int8 on the same weights.")
    parser.add_argument("--model", choices=sorted(SENTENCES), default="bge-small-zh-v1.5")
    parser.add_argument("--jar", type=pathlib.Path, help="the jar that holds the ONNX file; default: Maven's own copy")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--json", action="store_true", help="the last line alone")
    options = parser.parse_args()
    folder = pathlib.Path(os.environ.get("HENGSHI_MODELS", ROOT / "models")) / options.model
    if not folder.is_dir():
        sys.exit(f"no model in {folder}: run scripts/setup")
    if not (options.build / "bench_encoder").exists():
        sys.exit(f"no bench_encoder in {options.build}: cmake --workflow --preset release")
    os.sched_setaffinity(0, {CORE})  # both on one core, in turn
    reference = Reference(folder)
    ours, theirs = Ours(options.build, folder), OnnxRuntime(options.jar or find_jar(options.model), reference.cls)

    chooser = random.Random(1)
    out, lines = {}, []
    for length in LENGTHS:
        mine, other = [], []
        for _ in range(options.rounds):
            ids = [101] + [chooser.randrange(700, 8000) for _ in range(length - 2)] + [102]
            mine.append(ours.median_us(ids))
            other.append(theirs.median_us(ids))
        ratio = statistics.median(b / a for a, b in zip(mine, other))
        out[f"p50_us_{length}"] = round(statistics.median(mine), 1)
        out[f"ort_ratio_{length}"] = round(ratio, 3)
        lines.append(f"{length:6} {statistics.median(mine):10.0f} {statistics.median(other):16.0f} {ratio:8.2f}")

    cosines, runtime = [], []
    for ids in ours.tokenize(SENTENCES[options.model]):
        exact = reference.forward(ids)
        cosines.append(float(exact @ ours.vector(ids)))
        runtime.append(float(exact @ theirs.vector(ids)))
    out["cosine_min"] = round(min(cosines), 5)
    if not options.json:
        print(f"{options.model}, one thread, {options.rounds} alternating rounds of {CALLS} calls, CPU time")
        print("tokens    ours µs  ONNX Runtime µs    ratio")
        print("\n".join(lines))
        print(f"cosine to fp32, least of {len(cosines)} sentences: ours {min(cosines):.5f}, ONNX Runtime {min(runtime):.5f}")
    print(json.dumps(out))


if __name__ == "__main__":
    main()
