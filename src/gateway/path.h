// path.h — the tier that answered, as the wire, the ledger and the metrics name it.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace hengshi::gateway {

enum class Path { kExact, kSemantic, kRule, kLight, kCloud, kDegraded3, kUnanswered, kEmbeddings, kError };

inline constexpr std::array<std::string_view, 9> kPathNames = {
    "cache.exact", "cache.semantic", "rule", "light", "cloud", "degraded.3", "unanswered", "embeddings", "error"};
inline constexpr size_t kPaths = kPathNames.size();

inline std::string_view path_name(Path path) { return kPathNames[static_cast<size_t>(path)]; }

}  // namespace hengshi::gateway
