// A measured link (docs/profile_format.md) from the published bandwidths.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "simulator/import_profile.h"
#include "simulator/public_network.h"

namespace sail::sim {

// "zone/gpu/gpus of the machine", as in "us-central1-a/A100-40/4". InvalidArgument otherwise.
absl::StatusOr<LinkEnd> ParseLinkEnd(absl::string_view text);

// Sends of 64 KiB to 1 GiB, the sizes that were measured, each twice the one before, at the rate of the fit. A fit is
// not always one of a link: where it is above the largest rate that was seen it is that; where it gives no time, or one
// above that of the next larger size, it is that of the next larger size. Notes say where. All-reduces were not
// measured. InvalidArgument naming both ends when the file has no such pair, or rates too low for a link profile.
absl::StatusOr<ImportedProfile> ImportLink(const PublicNetwork& network, const LinkEnd& from, const LinkEnd& to);

}  // namespace sail::sim
