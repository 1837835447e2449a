#include "cache/cache.h"

#include "cache/store.h"

namespace hengshi::cache {

Result<std::unique_ptr<Cache>> Cache::open(Options options, const Clock& clock, Metrics& metrics) {
  auto store = std::make_unique<Store>(std::move(options), clock, metrics);
  TRY_OK(store->start());
  return store;
}

}  // namespace hengshi::cache
