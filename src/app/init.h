// init.h — `hengshi init`: a commented config, with the models that lie beside it filled in.
//
// Errors:  one line on stderr; a file that is there is never touched.
// Threads: one thread.
#pragma once

#include <string>

#include "app/config.h"

namespace hengshi::app {

// What a config in `folder` may name, relative to it. `packs` are those with a trained model; more than one leaves the
// choice to a person.
struct Found {
  PathsConfig models, light;
  std::vector<std::string> packs;
};
Found find_parts(const std::string& folder);

// The exit code.
int init(const std::string& file);

}  // namespace hengshi::app
