// tokenize.cc — prints the token ids of each line of standard input, for tests that compare tokenizers.
//
// Usage: tokenize TOKENIZER_JSON [lowercase] < lines   One line of ids per line, separated by spaces.

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "nn/tokenizer.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: tokenize TOKENIZER_JSON [lowercase] < lines\n");
    return 2;
  }
  std::ifstream in(argv[1], std::ios::binary);
  const std::string json((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const bool lowercase = argc > 2 && std::string_view(argv[2]) == "lowercase";
  const auto tokenizer = hengshi::nn::Tokenizer::parse(json, argv[1], lowercase);
  if (!tokenizer) {
    std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str());
    return 1;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    std::string out;
    for (const int32_t id : tokenizer->encode(line)) out += std::to_string(id) + ' ';
    out.back() = '\n';
    std::fputs(out.c_str(), stdout);
  }
  return 0;
}
