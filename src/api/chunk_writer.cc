#include <algorithm>
#include <array>

#include "api/chat.h"
#include "api/errors.h"
#include "api/event.h"
#include "api/json.h"
#include "api/splice.h"
#include "api/upstream_words.h"
#include "api/wire_parts.h"
#include "base/log.h"

namespace hengshi::api {

using json::Kind;
using json::Splice;
using json::Value;

namespace {

int64_t index_of(Value choice) {
  const auto stated = choice.find("index");
  return stated ? stated->integer().value_or(0) : 0;
}

bool holds(const std::vector<int64_t>& set, int64_t value) { return std::ranges::find(set, value) != set.end(); }

// The delta of a choice with a role when `first`, without one otherwise.
void write_delta(std::string& out, Value delta, bool first) {
  Splice splice(out, delta);
  bool has_role = false;
  for (const Value member : delta) {
    if (member.key() != "role") {
      splice.keep(member);
    } else if (!first) {
      splice.remove(member);
    } else {
      has_role = true;
      splice.replace(member, member.is(Kind::kString) ? member.raw() : R"("assistant")");
    }
  }
  if (first && !has_role) {
    splice.add();
    out += R"("role":"assistant")";
  }
  splice.finish();
}

}  // namespace

bool ChunkWriter::has_finished(Value choice) const { return holds(finished_, index_of(choice)); }

// The list as it is, but for choices that had finished.
void ChunkWriter::relay_choices(std::string& out, Value choices) {
  const std::string_view text = choices.document().bytes();
  size_t copied = choices.begin_byte();  // up to here the text was written or left out
  size_t before = copied + 1;            // end of the choice before this one
  bool dropped = false, kept = false;
  for (const Value choice : choices) {
    if (has_finished(choice)) {
      out += text.substr(copied, before - copied);
      copied = choice.end_byte();
      dropped = true;
    } else {
      if (dropped && !kept) copied = choice.begin_byte();  // no comma before the first
      relay_choice(out, choice, copied);
      kept = true;
    }
    before = choice.end_byte();
  }
  out += text.substr(copied, choices.end_byte() - copied);
}

void ChunkWriter::relay_choice(std::string& out, Value choice, size_t& copied) {
  const int64_t index = index_of(choice);
  if (!text_member(choice, "finish_reason").empty()) finished_.push_back(index);
  const auto delta = choice.find("delta");
  if (!delta || !delta->is(Kind::kObject)) return;
  const bool first = !holds(greeted_, index);
  if (first) greeted_.push_back(index);
  if (!first && !delta->find("role")) return;
  out += choice.document().bytes().substr(copied, delta->begin_byte() - copied);
  write_delta(out, *delta, first);
  copied = delta->end_byte();
}

namespace {

// Our own value for a member that every chunk of a stream has in common.
struct Identity {
  std::string_view name;
  std::string json;
  bool written = false;
};

std::array<Identity, 4> identities(std::string_view id, int64_t created, std::string_view model) {
  std::array<Identity, 4> out = {Identity{"id", {}}, Identity{"object", {}}, Identity{"created", {}},
                                 Identity{"model", {}}};
  append_json_string(out[0].json, id);
  append_json_string(out[1].json, kChunkObject);
  json::append_integer(out[2].json, created);
  append_json_string(out[3].json, model);
  return out;
}

}  // namespace

Result<void> ChunkWriter::relay(std::string& out, std::string_view chunk, const Extension* extension) {
  if (failed_) return {};
  if (const auto text = extension == nullptr && finished_.empty() ? plain_.text_of(chunk) : std::nullopt) {
    ((out += plain_event_) += *text) += plain_event_end_;
    return {};
  }
  const auto read = read_chunk(chunk);
  if (!read) {
    failed_ = true;
    return tl::unexpected(read.error());
  }
  const auto& [root, choices, usage] = *read;
  bool over = true;
  for (const Value choice : choices) over = over && has_finished(choice);
  const bool only_usage = usage && over;
  if (only_usage && (!include_usage_ || usage_written_)) return {};
  if (over && !usage && choices.begin() != choices.end()) return {};
  const bool plain = extension == nullptr && finished_.empty();
  const size_t greeted = greeted_.size();
  std::string counts;
  if (usage) append_counts(counts, *usage);
  usage_written_ |= only_usage;

  const size_t begin = out.size();
  out += kData;
  const size_t choices_at = relay_members(out, root, only_usage ? counts : "null");
  const bool owes = include_usage_ && !counts.empty() && !usage_written_ && finished_.size() >= greeted_.size();
  if (extension != nullptr && !owes) {
    out += R"(,"hengshi":)";
    append_extension(out, *extension);
  }
  out += '}';
  end_event(out, begin);
  if (plain && greeted_.size() == greeted) learn(chunk, *read, std::string_view(out).substr(begin), choices_at - begin);
  if (!owes) return {};
  write_usage(out, counts, extension);  // Some servers put it on the chunk that finishes.
  usage_written_ = true;
  return {};
}

size_t ChunkWriter::relay_members(std::string& out, Value root, std::string_view usage) {
  auto ours = identities(id_, created_, model_);
  bool has_usage = false;
  size_t choices_at = out.size();
  Splice splice(out, root);
  for (const Value member : root) {
    const std::string_view name = member.key();
    const auto own = std::ranges::find(ours, name, &Identity::name);
    if (own != ours.end()) {
      splice.replace(member, own->json);
      own->written = true;
    } else if (name == "choices" && member.is(Kind::kArray)) {
      splice.open(member);
      choices_at = out.size();
      relay_choices(out, member);
    } else if (name == "usage" && include_usage_) {
      splice.replace(member, usage);
      has_usage = true;
    } else if (name == "usage" || name == "hengshi") {
      splice.remove(member);
    } else {
      splice.keep(member);
    }
  }
  for (const Identity& own : ours) {
    if (own.written) continue;
    splice.add();
    ((((out += '"') += own.name) += "\":")) += own.json;
  }
  if (include_usage_ && !has_usage) {
    splice.add();
    out += R"("usage":null)";
  }
  return choices_at;
}

// How the chunk was passed on as `event`, so that the next one like it need not be read; its choices were not changed.
void ChunkWriter::learn(std::string_view chunk, const Chunk& read, std::string_view event, size_t choices_at) {
  const auto text = only_text(read);
  if (!text) return;
  const size_t begin = text->begin_byte() + 1, size = text->end_byte() - 1 - begin;
  plain_.learn(chunk, begin, begin + size);
  const size_t at = choices_at + (begin - read.choices.begin_byte());
  plain_event_ = event.substr(0, at);
  plain_event_end_ = event.substr(at + size);
}

void ChunkWriter::write_usage(std::string& out, std::string_view usage, const Extension* extension) const {
  const size_t begin = out.size();
  out += kData;
  append_head(out, id_, kChunkObject, created_, model_);
  (out += R"(,"choices":[],"usage":)") += usage;
  out += tail_of(false, extension);
  end_event(out, begin);
}

void ChunkWriter::usage(std::string& out, const Usage& usage, const Extension* extension) const {
  if (!include_usage_ || usage_written_) return;
  std::string counts;
  append_usage(counts, usage);
  write_usage(out, counts, extension);
}

void ChunkWriter::error(std::string& out, const Error& error) {
  const size_t begin = out.size();
  (out += kData) += write_error(error);
  end_event(out, begin);
}

}  // namespace hengshi::api
