#include "io/curl_loop.h"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <csignal>

#include "base/check.h"

namespace hengshi::io {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr size_t kMaxBuffered = size_t{256} << 10;  // then the upstream is made to wait
constexpr size_t kMaxIdleHandles = 64;
constexpr long kPooledConnections = 256;
constexpr int kTurns = 4;  // of timers that curl wants at once, before others on the loop get their turn

void init_curl_once() {
  static const bool ready = [] {
    // OpenSSL writes to sockets without MSG_NOSIGNAL.
    std::signal(SIGPIPE, SIG_IGN);
    return curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK;
  }();
  CHECK(ready, "libcurl does not initialise");
}

size_t on_body(char* bytes, size_t, size_t n, void* of) {
  Transfer& transfer = *static_cast<Transfer*>(of);
  if (transfer.buffer.size() >= kMaxBuffered) {
    transfer.paused = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  transfer.buffer.append(bytes, n);
  transfer.received += n;
  transfer.waiter.wake();
  return n;
}

std::string_view trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(" \t\r\n");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r\n") - from + 1);
}

// One line of a head, of which 1xx heads may come first; trailers come last.
size_t on_header(char* bytes, size_t, size_t n, void* of) {
  Transfer& transfer = *static_cast<Transfer*>(of);
  if (transfer.head_done) return n;
  const std::string_view line = trimmed({bytes, n});
  if (line.starts_with("HTTP/")) {
    transfer.headers.clear();
    const size_t space = line.find(' ');
    transfer.status = space == std::string_view::npos ? 0 : std::atoi(std::string(line.substr(space + 1, 3)).c_str());
  } else if (line.empty()) {
    if (transfer.status < 200) return n;
    transfer.head_done = true;
    transfer.waiter.wake();
  } else if (const size_t colon = line.find(':'); colon != std::string_view::npos) {
    transfer.headers.emplace_back(line.substr(0, colon), trimmed(line.substr(colon + 1)));
  }
  return n;
}

}  // namespace

Transfer::~Transfer() {
  loop->remove(*this);
  curl_slist_free_all(request_headers);
}

CurlLoop::CurlLoop(asio::io_context& loop) : executor_(loop.get_executor()), timer_(executor_) {
  init_curl_once();
  multi_ = curl_multi_init();
  CHECK(multi_ != nullptr, "out of memory");
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlLoop::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlLoop::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kPooledConnections);
}

CurlLoop::~CurlLoop() { close(); }

void CurlLoop::close() {
  if (closed_) return;
  closed_ = true;
  while (!running_.empty()) {
    Transfer& transfer = **running_.begin();
    transfer.finished = true;
    transfer.result = CURLE_ABORTED_BY_CALLBACK;
    remove(transfer);
    transfer.waiter.wake();
  }
  for (CURL* easy : idle_) curl_easy_cleanup(easy);
  idle_.clear();
  curl_multi_cleanup(multi_);
  for (auto& [fd, socket] : sockets_) socket->descriptor.release();
  sockets_.clear();
  error_code ignored;
  timer_.cancel(ignored);
}

CURL* CurlLoop::make_easy() {
  CURL* easy = curl_easy_init();
  CHECK(easy != nullptr, "out of memory");
  prepare(easy);
  return easy;
}

// What every request has in common.
void CurlLoop::prepare(CURL* easy) {
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &CurlLoop::open_socket);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &CurlLoop::close_socket);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, this);
}

bool CurlLoop::start(Transfer& transfer) {
  if (closed_) return false;
  CURL* easy = idle_.empty() ? make_easy() : idle_.back();
  if (!idle_.empty()) idle_.pop_back();
  const ClientRequest& request = transfer.request;
  bool fine = true;
  const auto set = [&](CURLoption option, auto value) {
    fine = curl_easy_setopt(easy, option, value) == CURLE_OK && fine;
  };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROXY, request.proxy.empty() ? static_cast<const char*>(nullptr) : request.proxy.c_str());
  if (!request.ca_file.empty()) {
    set(CURLOPT_CAINFO, request.ca_file.c_str());
    set(CURLOPT_PROXY_CAINFO, request.ca_file.c_str());
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));  // else the system's are trusted beside it
    set(CURLOPT_PROXY_CAPATH, static_cast<const char*>(nullptr));
  }
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
  set(CURLOPT_HTTPHEADER, transfer.request_headers);
  set(CURLOPT_CUSTOMREQUEST, static_cast<const char*>(nullptr));
  set(CURLOPT_NOBODY, 0L);
  if (request.method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else if (request.method == "GET") {
    set(CURLOPT_HTTPGET, 1L);
  } else {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, request.body.data());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    if (request.method != "POST") set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  set(CURLOPT_WRITEDATA, &transfer);
  set(CURLOPT_HEADERDATA, &transfer);
  set(CURLOPT_PRIVATE, &transfer);
  transfer.easy = easy;
  running_.insert(&transfer);
  if (!fine || curl_multi_add_handle(multi_, easy) != CURLM_OK) {
    remove(transfer);
    return false;
  }
  settle();
  return true;
}

void CurlLoop::remove(Transfer& transfer) {
  if (transfer.easy == nullptr) return;
  CURL* easy = std::exchange(transfer.easy, nullptr);
  running_.erase(&transfer);
  curl_multi_remove_handle(multi_, easy);
  if (!closed_ && idle_.size() < kMaxIdleHandles) {
    // The reset also clears its count of retries: it would otherwise refuse to try a dead idle connection again.
    curl_easy_reset(easy);
    prepare(easy);
    idle_.push_back(easy);
  } else {
    curl_easy_cleanup(easy);
  }
}

void CurlLoop::resume(Transfer& transfer) {
  if (!std::exchange(transfer.paused, false) || transfer.easy == nullptr) return;
  curl_easy_pause(transfer.easy, CURLPAUSE_CONT);
  settle();
}

curl_socket_t CurlLoop::open_socket(void* self, curlsocktype, curl_sockaddr* address) {
  CurlLoop& loop = *static_cast<CurlLoop*>(self);
  const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd < 0) return CURL_SOCKET_BAD;
  auto socket = std::make_shared<Socket>(loop.executor_);
  socket->ours = true;
  loop.sockets_[fd] = std::move(socket);
  return fd;
}

int CurlLoop::close_socket(void* self, curl_socket_t fd) {
  static_cast<CurlLoop*>(self)->forget(fd);
  return ::close(fd);
}

int CurlLoop::on_socket(CURL*, curl_socket_t fd, int what, void* self, void*) {
  CurlLoop& loop = *static_cast<CurlLoop*>(self);
  if (loop.closed_) return 0;
  if (what != CURL_POLL_REMOVE) {
    loop.watch(fd, what);
    return 0;
  }
  const auto it = loop.sockets_.find(fd);
  if (it == loop.sockets_.end()) return 0;
  it->second->wanted = 0;
  if (!it->second->ours) loop.forget(fd);  // Of the resolver, which closes it without telling.
  return 0;
}

int CurlLoop::on_timer(CURLM*, long timeout_ms, void* self) {
  CurlLoop& loop = *static_cast<CurlLoop*>(self);
  loop.due_now_ = timeout_ms == 0;
  loop.due_ =
      timeout_ms <= 0 ? Monotonic::max() : std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  if (!loop.closed_) loop.schedule();
  return 0;
}

void CurlLoop::watch(curl_socket_t fd, int wanted) {
  auto& socket = sockets_[fd];
  if (!socket) socket = std::make_shared<Socket>(executor_);
  if (!socket->descriptor.is_open()) {
    error_code ec;
    socket->descriptor.assign(fd, ec);
    CHECK(!ec, "curl's socket can be watched");
  }
  socket->wanted = wanted;
  arm(fd, socket);
}

void CurlLoop::arm(curl_socket_t fd, const std::shared_ptr<Socket>& socket) {
  if ((socket->wanted & CURL_POLL_IN) != 0 && !socket->reading) wait(fd, socket, true);
  if ((socket->wanted & CURL_POLL_OUT) != 0 && !socket->writing) wait(fd, socket, false);
}

void CurlLoop::wait(curl_socket_t fd, const std::shared_ptr<Socket>& socket, bool read) {
  (read ? socket->reading : socket->writing) = true;
  auto ready = [self = shared_from_this(), fd, socket, read](const error_code&) {
    (read ? socket->reading : socket->writing) = false;
    const int interest = read ? CURL_POLL_IN : CURL_POLL_OUT;
    if (self->closed_ || !socket->descriptor.is_open()) return;
    if ((socket->wanted & interest) == 0) return;  // Of an idle connection: curl looks at it before it is used again.
    self->act(fd, read ? CURL_CSELECT_IN : CURL_CSELECT_OUT);
    if (!self->closed_ && socket->descriptor.is_open()) self->arm(fd, socket);
  };
  using Descriptor = asio::posix::basic_stream_descriptor<Executor>;
  socket->descriptor.async_wait(read ? Descriptor::wait_read : Descriptor::wait_write, std::move(ready));
}

void CurlLoop::forget(curl_socket_t fd) {
  const auto it = sockets_.find(fd);
  if (it == sockets_.end()) return;
  it->second->wanted = 0;
  if (it->second->descriptor.is_open()) it->second->descriptor.release();
  sockets_.erase(it);
}

void CurlLoop::schedule() {
  if (due_ >= armed_) return;
  armed_ = due_;
  timer_.expires_at(armed_);
  auto fire = [self = shared_from_this()](const error_code& ec) {
    if (ec || self->closed_) return;
    self->armed_ = Monotonic::max();
    if (self->due_ <= std::chrono::steady_clock::now()) {
      self->due_ = Monotonic::max();
      self->act(CURL_SOCKET_TIMEOUT, 0);
    }
    if (!self->closed_) self->schedule();
  };
  timer_.async_wait(std::move(fire));
}

void CurlLoop::act(curl_socket_t fd, int events) {
  int running = 0;
  curl_multi_socket_action(multi_, fd, events, &running);
  settle();
}

void CurlLoop::settle() {
  int running = 0;
  for (int turn = 0; due_now_ && turn < kTurns; ++turn) {
    due_now_ = false;
    curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
  }
  if (due_now_) {
    auto rest = [self = shared_from_this()] {
      if (!self->closed_) self->settle();
    };
    asio::post(executor_, std::move(rest));
  }
  collect();
}

void CurlLoop::collect() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode result = message->data.result;  // Gone with the message once the handle is removed.
    void* of = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &of);
    Transfer& transfer = *static_cast<Transfer*>(of);
    if (result != CURLE_OK) curl_easy_getinfo(transfer.easy, CURLINFO_OS_ERRNO, &transfer.os_error);
    transfer.result = result;
    transfer.finished = true;
    remove(transfer);
    transfer.waiter.wake();
  }
}

}  // namespace hengshi::io
