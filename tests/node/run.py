#!/usr/bin/env python3
"""Runs the Node SDK's tests against a fake upstream and a gateway of their own.

Usage: run.py RESULTS.tap
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE.parent.parent / "tools")]
import conftest  # noqa: E402
import stack  # noqa: E402


def main():
    results = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="hengshi-node-") as folder:
        with stack.FakeUpstream(folder) as fake, \
                stack.Gateway(folder, conftest.full_config(fake, stack.train_demo_pack(), folder)) as gateway:
            gateway.wait_for_port()
            ran = subprocess.run(
                ["node", "--test", "--test-reporter=tap", f"--test-reporter-destination={results}", "--test-reporter=spec",
                 "--test-reporter-destination=stdout", "sdk.test.mjs"], cwd=HERE, stdin=subprocess.DEVNULL, timeout=300,
                env={**os.environ, "HENGSHI_URL": gateway.base_url, "HENGSHI_KEY": stack.KEY,
                     "HENGSHI_LIMITED_KEY": conftest.LIMITED_KEY})
    sys.exit(ran.returncode)


if __name__ == "__main__":
    main()
