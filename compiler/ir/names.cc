#include "compiler/ir/names.h"

namespace sail::ir {

absl::string_view ToString(LayerKind kind) { return NameOf(kLayerKinds, kind); }
absl::string_view ToString(Market market) { return NameOf(kMarkets, market); }
absl::string_view ToString(Precision precision) { return NameOf(kPrecisions, precision); }
absl::string_view ToString(Metric metric) { return NameOf(kMetrics, metric); }
absl::string_view ToString(Provenance provenance) { return NameOf(kProvenances, provenance); }

int BytesPerElement(Precision precision) {
  switch (precision) {
    case Precision::kFp16:
    case Precision::kBf16:
      return 2;
    case Precision::kFp32:
      return 4;
    case Precision::kFp64:
      return 8;
  }
  SAIL_CHECK(false) << "precision " << static_cast<int>(precision);
}

}  // namespace sail::ir
