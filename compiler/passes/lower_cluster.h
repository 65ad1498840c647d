// Phase 5: `resources` to ir::Cluster. Only zones that hold pools, and the machines and gpus of those pools, are kept,
// and everything is sorted by name, so that the order of declarations leaves no trace.
#pragma once

#include <optional>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/cluster.h"
#include "compiler/passes/checked_block.h"
#include "compiler/passes/pipeline.h"

namespace sail {

// A declared zone. Its identity is (region, label): equal labels in two regions are two zones, and then their name in
// the cluster is "region/label".
struct DeclaredZone {
  std::string region;
  std::string label;
  std::string name;
  SourceRange range;  // of the label
};

struct LoweredCluster {
  ir::Cluster cluster;
  const CheckedBlock* resources = nullptr;
  std::vector<const CheckedBlock*> pools;  // in the order of cluster.pools
  std::vector<LinkSource> links;           // those with a profile
};

// nullopt if anything was reported, or if there are no pools: resources that others extend.
std::optional<LoweredCluster> LowerCluster(const CheckedBlock& resources, DiagnosticSink& sink);

// The index of the zone called `name` (label, or "region/label") in `region` (any when empty); reports SAIL0404.
std::optional<int> FindZone(const std::vector<DeclaredZone>& zones, const std::string& name, const std::string& region,
                            SourceRange range, const CheckedBlock& resources, DiagnosticSink& sink);

// The matrix cluster.links from the rules of `resources`; `used` maps cluster zones to `declared` (link_rules.cc).
// Most specific rule wins: both zones named > one named > within zone > within region > across region > across zone >
// unscoped. Reports pairs without a rule (SAIL0401), with two equally specific ones (SAIL0402), and links faster than
// the network card of a node (SAIL0423, a warning).
void LowerLinks(const std::vector<DeclaredZone>& declared, const std::vector<int>& used, LoweredCluster& lowered,
                DiagnosticSink& sink);

}  // namespace sail
