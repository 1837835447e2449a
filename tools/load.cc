// load — one connection per target, one request at a time, each request to every target in turn; what took how long.
//
// For figures of microseconds: plain blocking sockets, no thread, no event loop. Asking the targets in turn inside one
// run makes their difference mean something on a shared machine. Prints one JSON line: per target the percentiles,
// status codes and x-hengshi-path values; for every target but the last, the differences to the last (the baseline),
// request by request.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

int64_t nanos(Clock::duration d) { return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count(); }

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "load: {}\n", why);
  std::exit(1);
}

struct Url {
  std::string host;
  uint16_t port = 80;
  std::string path;
};

Url parse_url(std::string_view text) {  // http://IPv4:PORT/PATH
  constexpr std::string_view kScheme = "http://";
  if (!text.starts_with(kScheme)) stop(fmt::format("{}: only http:// targets", text));
  text.remove_prefix(kScheme.size());
  const size_t colon = text.find(':');
  const size_t slash = text.find('/');
  if (colon == text.npos || slash == text.npos || slash < colon) stop("a target is http://IPv4:PORT/PATH");
  Url url{.host = std::string(text.substr(0, colon)), .path = std::string(text.substr(slash))};
  std::from_chars(text.data() + colon + 1, text.data() + slash, url.port);
  return url;
}

int connect_to(const Url& url) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(url.port);
  if (inet_pton(AF_INET, url.host.c_str(), &address.sin_addr) != 1) stop(url.host + ": not an IPv4 address");
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    stop(fmt::format("{}:{}: cannot connect", url.host, url.port));
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

std::string_view header(std::string_view head, std::string_view name) {  // name lower case, with its colon
  for (size_t at = head.find("\r\n"); at != head.npos; at = head.find("\r\n", at + 2)) {
    const auto line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
    const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    if (line.size() > name.size() &&
        std::equal(name.begin(), name.end(), line.begin(), [&](char n, char l) { return same(l, n); })) {
      const auto value = line.substr(name.size());
      return value.substr(std::min(value.find_first_not_of(' '), value.size()));
    }
  }
  return {};
}

// True once a delta with text in it has come.
bool has_token(std::string_view body) {
  constexpr std::string_view kContent = "\"content\":\"";
  for (size_t at = body.find(kContent); at != body.npos; at = body.find(kContent, at + 1)) {
    if (at + kContent.size() < body.size() && body[at + kContent.size()] != '"') return true;
  }
  return false;
}

struct Reply {
  int status = 0;
  std::string path;  // x-hengshi-path
  Clock::time_point first_token{};
  Clock::time_point end{};
};

class Target {
 public:
  explicit Target(const std::string& url) : url_(parse_url(url)) {}
  ~Target() {
    if (fd_ >= 0) close(fd_);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  // Nanoseconds to the first token (`stream`) or to the end of the answer; nothing when the connection broke.
  std::optional<int64_t> ask(std::string_view body, std::string_view key, bool stream) {
    if (fd_ < 0) fd_ = connect_to(url_);
    out_ = fmt::format(
        "POST {} HTTP/1.1\r\nHost: {}:{}\r\nContent-Type: application/json\r\nAuthorization: Bearer {}\r\n"
        "Content-Length: {}\r\n\r\n{}",
        url_.path, url_.host, url_.port, key, body.size(), body);
    const auto from = Clock::now();
    if (!send_all() || !read_reply(stream)) {
      close(std::exchange(fd_, -1));
      ++broken_;
      return std::nullopt;
    }
    ++statuses_[reply_.status];
    if (!reply_.path.empty()) ++paths_[reply_.path];
    const auto until = stream ? reply_.first_token : reply_.end;
    return until == Clock::time_point{} ? std::nullopt : std::optional(nanos(until - from));
  }

  const std::map<int, int64_t>& statuses() const { return statuses_; }
  const std::map<std::string, int64_t>& paths() const { return paths_; }
  int64_t broken() const { return broken_; }

 private:
  bool send_all() {
    for (size_t sent = 0; sent < out_.size();) {
      const ssize_t n = send(fd_, out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += static_cast<size_t>(n);
    }
    return true;
  }

  bool more() {
    char buffer[65536];
    const ssize_t n = recv(fd_, buffer, sizeof buffer, 0);
    if (n <= 0) return false;
    in_.append(buffer, static_cast<size_t>(n));
    return true;
  }

  bool read_reply(bool stream) {
    in_.clear();
    reply_ = {};
    size_t head = 0;
    while ((head = in_.find("\r\n\r\n")) == in_.npos) {
      if (!more()) return false;
    }
    const auto length = header(std::string_view(in_).substr(0, head + 2), "content-length:");
    size_t expected = 0;
    std::from_chars(length.data(), length.data() + length.size(), expected);
    const auto whole = [&] {
      return length.empty() ? std::string_view(in_).substr(head).ends_with("\r\n0\r\n\r\n")
                            : in_.size() - head - 4 >= expected;
    };
    for (bool token = false;;) {
      if (stream && !token && has_token(std::string_view(in_).substr(head))) {
        token = true;
        reply_.first_token = Clock::now();
      }
      if (whole()) break;
      if (!more()) return false;
    }
    reply_.end = Clock::now();
    const auto told = std::string_view(in_).substr(0, head + 2);
    std::from_chars(in_.data() + 9, in_.data() + 12, reply_.status);
    reply_.path = header(told, "x-hengshi-path:");
    if (header(told, "connection:") == "close") close(std::exchange(fd_, -1));
    return true;
  }

  Url url_;
  int fd_ = -1;
  std::string out_, in_;
  Reply reply_;
  std::map<int, int64_t> statuses_;
  std::map<std::string, int64_t> paths_;
  int64_t broken_ = 0;
};

std::string percentiles(std::vector<int64_t> ns) {
  if (ns.empty()) return R"("n":0)";
  std::sort(ns.begin(), ns.end());
  const auto at = [&](double share) {
    return static_cast<double>(ns[static_cast<size_t>(share * static_cast<double>(ns.size() - 1))]) / 1000;
  };
  return fmt::format(R"("n":{},"p50_us":{:.1f},"p90_us":{:.1f},"p99_us":{:.1f},"max_us":{:.1f})", ns.size(), at(0.5),
                     at(0.9), at(0.99), at(1));
}

template <typename Map>
std::string counts(const Map& map) {
  std::string out;
  for (const auto& [name, count] : map)
    fmt::format_to(std::back_inserter(out), "{}\"{}\":{}", out.empty() ? "" : ",", name, count);
  return "{" + out + "}";
}

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (lines.empty()) stop(path + ": no request body in it");
  return lines;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Asks every target in turn over one connection each; percentiles as one JSON line");
  std::vector<std::string> urls;
  std::string bodies_file, key = "none";
  int requests = 1000, warmup = 100;
  bool stream = false;
  app.add_option("--target", urls, "http://IPv4:PORT/PATH; the last one is the baseline")->required();
  app.add_option("--bodies", bodies_file, "File with one JSON body per line, used in turn")->required();
  app.add_option("--requests", requests, "Measured requests per target");
  app.add_option("--warmup", warmup, "Requests before, not measured");
  app.add_option("--key", key, "Bearer key");
  app.add_flag("--stream", stream, "Bodies ask for streams: measure to the first token");
  CLI11_PARSE(app, argc, argv);

  const auto bodies = read_lines(bodies_file);
  std::vector<std::unique_ptr<Target>> targets;
  for (const auto& url : urls) targets.push_back(std::make_unique<Target>(url));
  std::vector<std::vector<int64_t>> taken(targets.size()), added(targets.size());
  std::vector<std::optional<int64_t>> round(targets.size());
  for (int i = -warmup; i < requests; ++i) {
    const auto& body = bodies[static_cast<size_t>(i + warmup) % bodies.size()];
    for (size_t t = 0; t < targets.size(); ++t) round[t] = targets[t]->ask(body, key, stream);
    for (size_t t = 0; i >= 0 && t < targets.size(); ++t) {
      if (round[t]) taken[t].push_back(*round[t]);
      if (round[t] && round.back()) added[t].push_back(*round[t] - *round.back());
    }
  }
  std::string out;
  for (size_t t = 0; t < targets.size(); ++t) {
    fmt::format_to(std::back_inserter(out),
                   R"({}{{"target":"{}",{},"broken":{},"status":{},"paths":{},"added":{{{}}}}})", t > 0 ? "," : "",
                   urls[t], percentiles(taken[t]), targets[t]->broken(), counts(targets[t]->statuses()),
                   counts(targets[t]->paths()), percentiles(added[t]));
  }
  fmt::print("[{}]\n", out);
}
