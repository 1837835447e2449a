// curl_loop.h — libcurl's multi interface on an Asio loop: its sockets, its one timer, its pooled handles.
//
// Errors:  a transfer ends with a CURLcode; what the sockets do is curl's to judge.
// Threads: one loop. Curl's callbacks never resume a coroutine, so curl is never called from inside itself.
// Source:  libcurl-multi(3), curl_multi_socket_action(3).
#pragma once

#include <curl/curl.h>

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "io/http_client.h"
#include "io/waiter.h"

namespace hengshi::io {

class CurlLoop;

// One request and its answer. Owned by who waits for it; leaving the loop is its destructor's work.
struct Transfer {
  Transfer(std::shared_ptr<CurlLoop> on_loop, const Executor& executor) : loop(std::move(on_loop)), waiter(executor) {}
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  const std::shared_ptr<CurlLoop> loop;
  Waiter waiter;         // woken when anything below has changed
  CURL* easy = nullptr;  // null when not on the loop
  curl_slist* request_headers = nullptr;
  ClientRequest request;
  std::string host;

  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  bool head_done = false;
  std::string buffer;  // of the body, not yet read
  size_t received = 0;
  bool paused = false;
  bool finished = false;
  bool abandoned = false;  // the response was destroyed while somebody read from it
  CURLcode result = CURLE_OK;
  long os_error = 0;
};

class CurlLoop : public std::enable_shared_from_this<CurlLoop> {
 public:
  explicit CurlLoop(boost::asio::io_context& loop);
  ~CurlLoop();
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  const Executor& executor() const { return executor_; }

  // Starts it; `transfer.easy` is set. False: no request can be made of it.
  bool start(Transfer& transfer);
  // Takes it off, cancelling it when it has not finished.
  void remove(Transfer& transfer);
  // Lets a paused transfer receive again.
  void resume(Transfer& transfer);
  // Ends every transfer as cancelled; nothing starts any more.
  void close();

 private:
  struct Socket {
    explicit Socket(const Executor& executor) : descriptor(executor) {}
    boost::asio::posix::basic_stream_descriptor<Executor> descriptor;
    bool ours = false;  // made by open_socket(), and stays registered while the connection is pooled
    int wanted = 0;     // CURL_POLL_IN, CURL_POLL_OUT
    bool reading = false;
    bool writing = false;
  };

  static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int close_socket(void* self, curl_socket_t fd);
  static int on_socket(CURL*, curl_socket_t fd, int what, void* self, void*);
  static int on_timer(CURLM*, long timeout_ms, void* self);

  CURL* make_easy();
  void prepare(CURL* easy);
  void watch(curl_socket_t fd, int wanted);
  void arm(curl_socket_t fd, const std::shared_ptr<Socket>& socket);
  void wait(curl_socket_t fd, const std::shared_ptr<Socket>& socket, bool read);
  void forget(curl_socket_t fd);
  void schedule();
  void act(curl_socket_t fd, int events);
  void settle();
  void collect();

  const Executor executor_;
  CURLM* multi_;
  bool closed_ = false;
  bool due_now_ = false;                // curl asked for a timer of 0 ms: no trip through the loop for that
  Monotonic due_ = Monotonic::max();    // when curl wants to be called
  Monotonic armed_ = Monotonic::max();  // when the timer fires; early is fine, so it is rarely set anew
  Timer timer_;
  std::unordered_map<curl_socket_t, std::shared_ptr<Socket>> sockets_;
  std::unordered_set<Transfer*> running_;
  std::vector<CURL*> idle_;
};

}  // namespace hengshi::io
