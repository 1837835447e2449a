// encoder.cc — times the encoder on one thread, and prints its vectors; bench/encoder is the command.
//
// Usage: bench_encoder MODEL_DIR < requests > answers
// Requests, one per line:  time N ID…   -> median µs of CPU time of N calls on these ids
//                          vector ID…   -> the vector

#include "nn/encoder.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

using hengshi::nn::Encoder;

// Of this thread alone, so that a busy machine that takes the core away does not count.
double cpu_us() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double median_us(const Encoder& encoder, const std::vector<int32_t>& ids, size_t rounds, std::vector<float>& out) {
  std::vector<double> times;
  for (size_t i = 0; i < rounds; ++i) {
    const double start = cpu_us();
    encoder.encode_ids(ids, out);
    times.push_back(cpu_us() - start);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(rounds / 2), times.end());
  return times[rounds / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench_encoder MODEL_DIR < requests\n");
    return 2;
  }
  const auto encoder = Encoder::load(argv[1]);
  if (!encoder) {
    std::fprintf(stderr, "%s\n", encoder.error().message.c_str());
    return 1;
  }
  std::vector<float> out((*encoder)->dim());
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string what;
    size_t rounds = 0;
    words >> what;
    if (what == "time") words >> rounds;
    const std::vector<int32_t> ids(std::istream_iterator<int32_t>(words), std::istream_iterator<int32_t>{});
    if (what == "time") {
      std::printf("%.2f\n", median_us(**encoder, ids, std::max<size_t>(rounds, 1), out));
    } else {
      (*encoder)->encode_ids(ids, out);
      for (const float v : out) std::printf("%.7g ", static_cast<double>(v));
      std::printf("\n");
    }
    std::fflush(stdout);
  }
  return 0;
}
