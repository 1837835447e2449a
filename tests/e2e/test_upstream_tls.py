"""Upstreams over TLS, with a certificate authority of the company's own, and over HTTP/2."""
import pathlib
import shutil
import socket
import subprocess

import pytest
import stack
from conftest import eventually, route, upstream

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
QUESTION = {"model": "hengshi", "messages": [{"role": "user", "content": "Is this line safe?"}]}


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def certificate(folder, name, subject_alt):
    """NAME.pem and NAME.key in `folder`, signed by the authority ca.pem there."""
    request = folder / f"{name}.csr"
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
            "-keyout", folder / f"{name}.key", "-out", request)
    extensions = folder / f"{name}.ext"
    extensions.write_text(f"subjectAltName={subject_alt}\nbasicConstraints=CA:FALSE\n")
    openssl("x509", "-req", "-in", request, "-CA", folder / "ca.pem", "-CAkey", folder / "ca.key", "-CAcreateserial",
            "-days", 2, "-extfile", extensions, "-out", folder / f"{name}.pem")
    return folder / f"{name}.pem", folder / f"{name}.key"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    folder = tmp_path_factory.mktemp("authority")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 2,
            "-subj", "/CN=a company's own authority", "-keyout", folder / "ca.key", "-out", folder / "ca.pem")
    return folder


@pytest.fixture(scope="module")
def tls_fake(authority, tmp_path_factory):
    cert, key = certificate(authority, "here", "IP:127.0.0.1")
    with stack.FakeUpstream(tmp_path_factory.mktemp("tls"), "--tls-cert", cert, "--tls-key", key) as program:
        yield program


@pytest.fixture
def ask(start, light_config):
    """ask(base_url, **upstream's keys): a gateway with that one upstream, and what it answers."""
    def run(base_url, **more):
        light_config["upstream"] = [upstream(base_url, connect_timeout="10s", **more)]
        light_config["route"] = [route(tiers=[], first_answer="10s", on_exhausted="503")]
        gateway = start(light_config)
        return gateway, gateway.chat(QUESTION)
    return run


def test_with_the_authority_named_it_answers(ask, tls_fake, authority):
    gateway, (status, headers, body) = ask(tls_fake.base_url, ca_file=authority / "ca.pem")
    assert (status, headers["x-hengshi-path"]) == (200, "cloud") and b"safe" in body
    status, _, body = gateway.chat({**QUESTION, "stream": True})
    assert status == 200 and body.endswith(b"data: [DONE]\n\n")


def test_without_it_nothing_is_said_to_a_stranger(ask, tls_fake):
    before = tls_fake.stats()["requests"]
    gateway, (status, headers, body) = ask(tls_fake.base_url)
    assert status == 503
    status, _, body = gateway.chat({**QUESTION, "model": "fake-model"})  # A model of its own keeps its errors.
    assert status == 502 and b"not trusted" in body and b"ca_file" in body
    assert tls_fake.stats()["requests"] == before


def test_a_certificate_for_another_name_is_refused(ask, authority, tmp_path):
    cert, key = certificate(authority, "elsewhere", "DNS:elsewhere.example")
    with stack.FakeUpstream(tmp_path, "--tls-cert", cert, "--tls-key", key, name="elsewhere") as program:
        assert ask(program.base_url, ca_file=authority / "ca.pem")[1][0] == 503
        assert program.stats()["requests"] == 0


@pytest.mark.parametrize("text, word", [(None, "is not there"), ("nothing of the kind", "holds no PEM certificate")],
                         ids=["missing", "garbage"])
def test_a_bad_ca_file_is_a_config_error(light_config, tmp_path, text, word):
    if text is not None:
        (tmp_path / "ca.pem").write_text(text)
    light_config["upstream"][0]["ca_file"] = "ca.pem"  # relative to the config's folder
    path = tmp_path / "hengshi.toml"
    path.write_text(stack.toml_document(light_config))
    told = subprocess.run([stack.BUILD / "hengshi", "check", "--config", path], capture_output=True, text=True, timeout=60)
    assert told.returncode == 2 and "ca_file" in told.stderr and word in told.stderr and str(tmp_path) in told.stderr


@pytest.fixture
def http2_front(authority, fake, tmp_path):
    """nginx that speaks HTTP/2 over TLS before the fake; its log says which version was spoken on which connection."""
    cert, key = certificate(authority, "front", "IP:127.0.0.1")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    config = tmp_path / "nginx.conf"
    config.write_text(f"""
daemon off; pid {tmp_path}/nginx.pid; error_log {tmp_path}/nginx.err; worker_processes 1;
events {{}}
http {{
  log_format spoken "$server_protocol $connection";
  access_log {tmp_path}/spoken.log spoken;
  client_body_temp_path {tmp_path}/a; proxy_temp_path {tmp_path}/b; fastcgi_temp_path {tmp_path}/c;
  uwsgi_temp_path {tmp_path}/d; scgi_temp_path {tmp_path}/e;
  server {{
    listen 127.0.0.1:{port} ssl http2;
    ssl_certificate {cert}; ssl_certificate_key {key};
    location / {{ proxy_pass http://127.0.0.1:{fake.port}; proxy_buffering off; proxy_http_version 1.1; }}
  }}
}}""")
    assert NGINX, "scripts/setup --test installs nginx"
    process = subprocess.Popen([NGINX, "-c", config, "-p", tmp_path, "-e", tmp_path / "nginx.err"])

    def listens():
        assert process.poll() is None, (tmp_path / "nginx.err").read_text()
        with socket.socket() as attempt:
            return attempt.connect_ex(("127.0.0.1", port)) == 0

    eventually(listens)
    yield f"https://127.0.0.1:{port}/v1", tmp_path / "spoken.log"
    process.terminate()
    process.wait(20)


def test_http2_is_spoken_where_it_is_offered(ask, http2_front, authority):
    url, log = http2_front
    gateway, (status, headers, body) = ask(url, ca_file=authority / "ca.pem")
    assert (status, headers["x-hengshi-path"]) == (200, "cloud"), body
    for _ in range(3):
        status, _, body = gateway.chat({**QUESTION, "stream": True})
        assert status == 200 and b"safe" in body and body.endswith(b"data: [DONE]\n\n")
    lines = lambda: pathlib.Path(log).read_text().split("\n")[:-1]
    eventually(lambda: len(lines()) == 4)
    assert all(line.startswith("HTTP/2.0 ") for line in lines())
