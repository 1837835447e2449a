"""What the benchmarks share: servers pinned to one core, the load to another, nginx beside them, tables and JSON."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import stack  # noqa: E402

SERVER_CORE, LOAD_CORE = 0, 1

CHAT = {
    "model": "hengshi",
    "messages": [{"role": "user", "content": "What is the climate of Shanghai like, and which months are the best ones for a "
                                             "first visit with two small children? Please mention rain, heat and typhoons."}],
    "temperature": 0.2, "top_p": 0.95, "max_tokens": 512, "presence_penalty": 0, "frequency_penalty": 0, "seed": 7,
}

WORDS = ("river stone window market garden letter bridge winter mirror copper harbour candle orchard thunder ribbon valley engine "
         "violin pepper island lantern feather marble canyon").split()


def config(fake, folder, **sections):
    """The whole pipeline with one I/O thread: key check, ledger, metrics, caches on disk; no line of log per request."""
    folder = pathlib.Path(folder)
    return {
        "server": {"threads": 1},
        "compute": {"threads": 1},
        "log": {"level": "warn", "access": False},
        "cache": {"directory": folder / "cache"},
        "ledger": {"path": folder / "ledger.db"},
        "key": [{"name": "bench", "tenant": "bench", "sha256": stack.sha256_of(stack.KEY)}],
        "upstream": [upstream(fake)],
        "route": [{"name": "hengshi", "models": ["hengshi"], "upstreams": ["fake"], "scope": "tenant"}],
        **sections,
    }


def upstream(fake, name="fake", fault=""):
    return {"name": name, "base_url": fake.base_url, "model": f"{name}-model{fault and '+'}{fault}"}


def pin(program, core, names=None):
    """All threads of a program to a core, or those whose name starts with one of `names`."""
    for name, ids in program.threads().items():
        if names is None or name.startswith(tuple(names)):
            for thread in ids:
                os.sched_setaffinity(thread, {core})


def pin_server(gateway):
    """The loop on its core; the writers of ledger and cache beside the load."""
    pin(gateway, SERVER_CORE)
    pin(gateway, LOAD_CORE, ["ledger", "cache"])


LUA = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer %s"
wrk.body = [[%s]]
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("RESULT %%f %%f %%d %%d\\n", summary.requests / (summary.duration / 1e6), latency:percentile(50),
                         summary.requests, e.connect + e.read + e.write + e.status + e.timeout))
end
"""


class Nginx:
    """One nginx worker on the server's core, as a constant answer or as a reverse proxy."""

    def __init__(self, folder, location, port_upstream=None):
        folder = pathlib.Path(folder)
        self.port = free_port()
        upstream = f"upstream backend {{ server 127.0.0.1:{port_upstream}; keepalive 16; }}" if port_upstream else ""
        path = folder / f"nginx-{self.port}.conf"
        path.write_text(f"""
            daemon off; worker_processes 1; pid {folder}/nginx-{self.port}.pid; error_log {folder}/nginx.log warn;
            events {{ worker_connections 1024; }}
            http {{
              access_log off; keepalive_requests 100000000; client_body_temp_path {folder}/body; client_body_buffer_size 1m;
              proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
              {upstream}
              server {{ listen 127.0.0.1:{self.port}; {location} }}
            }}""")
        nginx = "/usr/sbin/nginx" if os.path.exists("/usr/sbin/nginx") else "nginx"
        self.process = subprocess.Popen(["taskset", "-c", str(SERVER_CORE), nginx, "-p", folder, "-c", path],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_port(self.port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(10)


def constant(body):
    escaped = body.replace("\\", "\\\\").replace("'", "\\'").replace("$", "")
    return f"location / {{ default_type application/json; return 200 '{escaped}'; }}"


PROXY = """location / { proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port):
    limit = time.monotonic() + 10
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > limit:
                raise RuntimeError(f"nothing listens on port {port}") from None
            time.sleep(0.02)


def load(targets, bodies, folder, requests, warmup=200, stream=False):
    """tools/load.cc on the load's core: one dict per target, the last one the baseline of `added`."""
    path = pathlib.Path(folder) / "bodies.jsonl"
    path.write_text("".join(json.dumps(b, ensure_ascii=False) + "\n" for b in bodies))
    told = subprocess.run(
        ["taskset", "-c", str(LOAD_CORE), stack.BUILD / "load", "--bodies", path, "--requests", str(requests), "--warmup",
         str(warmup), "--key", stack.KEY, *(["--stream"] if stream else []),
         *[part for url in targets for part in ("--target", f"{url}/chat/completions")]],
        capture_output=True, text=True, check=True)
    return json.loads(told.stdout)


def wrk_script(folder, body):
    path = pathlib.Path(folder) / "post.lua"
    path.write_text(LUA % (stack.KEY, json.dumps(body)))
    return path


def wrk(port, script, connections, seconds):
    told = subprocess.run(["taskset", "-c", str(LOAD_CORE), "wrk", "-t1", f"-c{connections}", f"-d{seconds}", "-s", script,
                           f"http://127.0.0.1:{port}/v1/chat/completions"], capture_output=True, text=True, check=True)
    rps, p50, requests, errors = re.search(r"RESULT (\S+) (\S+) (\d+) (\d+)", told.stdout).groups()
    if int(errors):
        raise SystemExit(f"wrk saw {errors} errors")
    return float(rps), float(p50), int(requests)


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def table(head, rows):
    rows = [head] + [[f"{x:,.1f}" if isinstance(x, float) else str(x) for x in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        print("  ".join(x.ljust(w) if i == 0 else x.rjust(w) for i, (x, w) in enumerate(zip(row, widths))))


def result(**figures):
    print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in figures.items()}))
