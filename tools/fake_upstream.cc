// fake_upstream.cc — a model server that is a fake and says so: for tests and benchmarks, never for a real question.
//
// It answers POST /v1/chat/completions (stream or not) with the question itself, GET /v1/models, and
//   GET /fake/stats      what it has seen, how far open answers are, and in which phase clients left
//   GET /fake/last       the last chat request: headers and body
//   GET /fake/last/body  that body, byte for byte
// It misbehaves on purpose (fake_fault.h) as the header `x-fake: cut:3`, a model name like `fake-model+cut:3`, or
// --fault with --fault-rate say, in this order.

#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "fake_stats.h"
#include "fake_turn.h"
#include "io/server.h"

namespace fake {

io::Task<void> serve(Shared& shared, Chance& chance, const io::Executor& executor, io::Exchange& exchange) {
  const io::HttpRequest& request = exchange.request();
  const std::string_view path = request.path();
  std::string body;
  int status = 200;
  if (request.method == "POST" && path == "/v1/chat/completions") {
    shared.stats.remember(request);
    Turn turn(shared, exchange, executor);
    co_await turn.serve(chance);
    co_return;
  }
  if (path == "/v1/models") {
    body = "{\"object\":\"list\",\"data\":[{\"id\":" + json_string(shared.settings.model) +
           ",\"object\":\"model\",\"created\":1700000000,\"owned_by\":\"fake\"}]}";
  } else if (path == "/fake/stats") {
    body = stats_json(shared.stats);
  } else if (path == "/fake/last") {
    body = last_json(shared.stats);
  } else if (path == "/fake/last/body") {
    const std::lock_guard lock(shared.stats.mutex);
    body = shared.stats.last.body;
  } else {
    status = 404;
    body = error_json("this fake knows no such path", "not_found");
  }
  co_await send_json(exchange, status, body);
}

io::HandlerFactory handlers(Shared& shared) {
  return [&shared](io::EventLoop& loop, int index) -> io::Handler {
    auto chance = std::make_shared<Chance>(shared.settings, index);
    const io::Executor executor = loop.get_executor();
    return [&shared, chance, executor](io::Exchange& exchange) { return serve(shared, *chance, executor, exchange); };
  };
}

void add_options(CLI::App& app, Settings& settings) {
  app.add_option("--address", settings.server.address, "where to listen")->capture_default_str();
  app.add_option("--port", settings.server.port, "0: any free one")->capture_default_str();
  app.add_option("--port-file", settings.port_file, "the port is written here once it listens");
  app.add_option("--threads", settings.server.threads)->capture_default_str();
  app.add_option("--tls-cert", settings.server.tls_cert, "PEM certificate chain; with --tls-key, HTTPS");
  app.add_option("--tls-key", settings.server.tls_key, "PEM private key");
  app.add_option("--model", settings.model, "what /v1/models says")->capture_default_str();
  app.add_option("--latency-ms", settings.latency_ms, "before the head of an answer")->capture_default_str();
  app.add_option("--latency", settings.latency, "on top: lognormal:median_ms,p99_ms");
  app.add_option("--token-ms", settings.token_ms, "between tokens; 0: all in one piece")->capture_default_str();
  app.add_option("--tokens", settings.tokens, "at least so many in an answer")->capture_default_str();
  app.add_option("--fault", settings.fault, "for every request that asks for none itself: cut:3, 429:7, stall, …");
  app.add_option("--fault-rate", settings.fault_rate, "share of them, 0 … 1")->capture_default_str();
  app.add_option("--seed", settings.seed, "of latencies and faults")->capture_default_str();
}

bool write_port(const std::string& path, uint16_t port) {
  if (path.empty()) return true;
  const std::string half = path + ".new";  // Whoever waits for the file never sees half of it.
  std::ofstream(half) << port << '\n';
  return std::rename(half.c_str(), path.c_str()) == 0;
}

int run(Settings settings) {
  const auto standing = parse_faults(settings.fault);
  if (!standing) {
    std::fprintf(stderr, "fake_upstream: --fault: %s\n", standing.error().message.c_str());
    return 2;
  }
  Stats stats;
  Shared shared{settings, stats, *standing};
  hengshi::Metrics metrics;
  settings.server.drain_timeout = milliseconds(500);
  auto server = io::Server::listen(settings.server, handlers(shared), metrics);
  if (!server) {
    std::fprintf(stderr, "fake_upstream: %s\n", server.error().message.c_str());
    return 1;
  }
  if (!write_port(settings.port_file, (*server)->port())) {
    std::fprintf(stderr, "fake_upstream: cannot write %s\n", settings.port_file.c_str());
    return 1;
  }
  std::fprintf(stderr, "fake_upstream: %s://%s:%d/v1 (a fake: it says the question back)\n",
               settings.server.tls_cert.empty() ? "http" : "https", settings.server.address.c_str(), (*server)->port());
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::thread watcher([&] {
    int which = 0;
    sigwait(&ends, &which);
    (*server)->shutdown();
  });
  (*server)->run();
  watcher.join();
  return 0;
}

}  // namespace fake

int main(int argc, char** argv) try {
  CLI::App app("A fake model server for tests and benchmarks: it says the question back, and fails when told to.");
  fake::Settings settings;
  fake::add_options(app, settings);
  CLI11_PARSE(app, argc, argv);
  return fake::run(std::move(settings));
} catch (const std::exception& error) {
  std::fprintf(stderr, "fake_upstream: %s\n", error.what());
  return 1;
}
