// The closed schema of the language, in one table: which blocks exist, where they may stand, and what each attribute
// may hold. Checking, defaults, `sailc schema` and what is generated from it (docs/editors) all come from here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace sail {

enum class ValueType {
  kQuantity,  // `unit` gives the dimension and the preferred spelling
  kInteger,   // a whole plain number
  kNumber,    // any plain number
  kShare,     // 0 % … 100 %
  kBoolean,
  kText,
  kTextList,     // one text or a list
  kIntegerList,  // a whole number, a list of them, or a range
  kDate,
  kTextOrSecret,
  kEnum,       // `unit` lists the words: "spot|on_demand"
  kEnumList,   // one word or a list of them
  kReference,  // `unit` is the block kind referred to
  kPrice,      // USD/h per node, or USD/GPU/h
  kQuota,      // nodes, or GPUs that make up whole nodes
};

enum class Presence { kRequired, kOptional };
enum class Bound { kAny, kNotNegative, kPositive };

struct AttributeSchema {
  const char* kind;
  const char* name;
  ValueType type;
  const char* unit;  // meaning depends on `type`
  Presence presence;
  const char* fallback;  // the default as it would be written; "" when absent means absent
  Bound bound;
  int64_t largest;  // largest value accepted, in base units; 0 for no limit of its own
  const char* doc;
};

enum class LabelRule { kNone, kRequired };

struct KindSchema {
  const char* name;
  const char* parents;  // "resources|region"; "file" is the top level
  LabelRule label;
  const char* labels;       // the names it may have: "tensor|pipeline|data"; "" for any
  const char* required_in;  // the parent that must have one, or ""
  bool at_most_one;         // in its parent
  bool is_open;             // any attribute name is allowed; its schema is called "*"
  const char* doc;
};

absl::Span<const KindSchema> Kinds();
absl::Span<const AttributeSchema> Attributes();  // grouped by kind

const KindSchema* FindKind(absl::string_view name);
const AttributeSchema* FindAttribute(absl::string_view kind, absl::string_view name);
std::vector<std::string> AttributeNames(absl::string_view kind);  // attributes and child blocks
std::vector<std::string> KindNames();
bool MayContain(absl::string_view parent, const KindSchema& child);
// The words of an enumeration; empty for other types.
std::vector<std::string> EnumWords(const AttributeSchema& attribute);
// The words of the enumeration that is called `name` in declared types (`let m: market = spot`); empty if there is
// none.
std::vector<std::string> EnumTypeWords(absl::string_view name);
std::vector<std::string> LabelWords(const KindSchema& kind);

}  // namespace sail
