#include "compiler/driver/report_page.h"

namespace sail::driver {
namespace {

constexpr char kStyle[] = R"__css__(
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --text: #1b1f27; --muted: #5b6472; --rule: #dde1e8; --grid: #e4e8ee; --on: #ffffff;
  --idle: #eceff4; --fwd: #2f6fd0; --bwd: #d9822b; --sync: #8a4fc4; --step: #2e8b63;
  --fill: #7d8da6; --steady: #2f6fd0; --drain: #a3794a; --good: #1f7a4d; --bad: #c62f3b; --edge: #6b778a;
  --t0: #2f6fd0; --t1: #6ea8f0; --t2: #1e4b94; --t3: #4bb3a6; --t4: #d9822b; --t5: #b8336a;
  --t6: #e07aa5; --t7: #7d2f56; --t8: #c9a227; --t9: #8f7a3d; --t10: #8a4fc4; --t11: #8b95a5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12151b; --card: #1b1f28; --text: #e6e9ef; --muted: #9aa4b5; --rule: #313845; --grid: #2b313d; --on: #10131a;
    --idle: #262c37; --fwd: #6ea2f2; --bwd: #eda65a; --sync: #b98af0; --step: #5cc093;
    --fill: #93a2ba; --steady: #6ea2f2; --drain: #c9a274; --good: #5cc093; --bad: #ff7b84; --edge: #98a4b8;
    --t0: #6ea2f2; --t1: #a9cbfa; --t2: #4273c4; --t3: #6fd0c4; --t4: #eda65a; --t5: #e2608f;
    --t6: #f2a3c2; --t7: #ad5b86; --t8: #e3c35b; --t9: #b5a064; --t10: #b98af0; --t11: #a6b0c0;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 28px 24px 48px; max-width: 1180px; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Liberation Sans", "DejaVu Sans", sans-serif;
  -webkit-print-color-adjust: exact; print-color-adjust: exact;
}
h1 { margin: 0; font-size: 26px; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 0 0 12px; font-size: 18px; }
p { margin: 4px 0; }
.muted { color: var(--muted); }
main p { font-size: 13.5px; }
section {
  margin-top: 20px; padding: 18px 20px 20px; background: var(--card); border: 1px solid var(--rule);
  border-radius: 10px; overflow-x: auto;
}
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(168px, 1fr)); gap: 12px; margin: 18px 0 0; }
.figures div { padding: 12px 14px; background: var(--card); border: 1px solid var(--rule); border-radius: 10px; }
.figures dt { color: var(--muted); font-size: 13px; }
.figures dd { margin: 0; font-size: 18px; font-weight: 600; }
.figures dd small { display: block; color: var(--muted); font-size: 13px; font-weight: 400; }
table { margin-top: 14px; border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; }
caption { padding-bottom: 4px; color: var(--muted); text-align: left; }
th, td { padding: 3px 18px 3px 0; border-bottom: 1px solid var(--rule); text-align: left; white-space: nowrap; }
th { font-weight: 500; }
thead th { color: var(--muted); }
.r { text-align: right; }
.holds { color: var(--good); }
.broken { color: var(--bad); font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 8px 0 0; padding: 0; list-style: none; font-size: 13px; }
.legend span {
  display: inline-block; width: 12px; height: 12px; margin-right: 6px; border-radius: 2px; vertical-align: -1px;
}
svg { display: block; width: 100%; min-width: 760px; height: auto; margin-top: 6px; }
svg text { fill: var(--text); font: 13px system-ui, -apple-system, "Segoe UI", "Liberation Sans", "DejaVu Sans", sans-serif; }
svg .small { font-size: 12px; }
svg .tiny { font-size: 10.5px; }
svg .bold { font-weight: 600; }
svg .muted { fill: var(--muted); }
svg .on { fill: var(--on); }
svg .m { text-anchor: middle; }
svg .halo { paint-order: stroke; stroke: var(--card); stroke-width: 4px; stroke-linejoin: round; }
.grid { stroke: var(--grid); }
.idle { fill: var(--idle); background: var(--idle); }
.fwd { fill: var(--fwd); background: var(--fwd); }
.bwd { fill: var(--bwd); background: var(--bwd); }
.mix { fill: url(#mix); background: repeating-linear-gradient(45deg, var(--fwd) 0 3px, var(--bwd) 3px 6px); }
.sync { fill: var(--sync); background: var(--sync); }
.step { fill: var(--step); background: var(--step); }
.fwd, .bwd, .step { stroke: var(--card); stroke-width: 0.4px; }
.p-fill { fill: var(--fill); background: var(--fill); }
.p-steady { fill: var(--steady); background: var(--steady); }
.p-drain { fill: var(--drain); background: var(--drain); }
.t0 { fill: var(--t0); background: var(--t0); }
.t1 { fill: var(--t1); background: var(--t1); }
.t2 { fill: var(--t2); background: var(--t2); }
.t3 { fill: var(--t3); background: var(--t3); }
.t4 { fill: var(--t4); background: var(--t4); }
.t5 { fill: var(--t5); background: var(--t5); }
.t6 { fill: var(--t6); background: var(--t6); }
.t7 { fill: var(--t7); background: var(--t7); }
.t8 { fill: var(--t8); background: var(--t8); }
.t9 { fill: var(--t9); background: var(--t9); }
.t10 { fill: var(--t10); background: var(--t10); }
.t11 { fill: var(--t11); background: var(--t11); }
.limit { stroke: var(--bad); stroke-width: 2px; background: var(--bad); }
.nodes { fill: var(--fwd); background: var(--fwd); }
.egress { fill: var(--bwd); background: var(--bwd); }
.rest { fill: var(--edge); background: var(--edge); }
.total { fill: var(--step); }
.step-down { stroke: var(--muted); stroke-dasharray: 2 2; }
.region { fill: none; stroke: var(--rule); stroke-width: 1.5px; rx: 12px; }
.zone { fill: var(--idle); stroke: var(--muted); rx: 7px; }
.zone.off { fill: none; stroke-dasharray: 4 3; }
.edge { fill: none; stroke: var(--edge); opacity: 0.85; }
.paid { stroke: var(--bwd); }
.head { fill: var(--text); }
footer { margin-top: 24px; color: var(--muted); font-size: 12.5px; overflow-wrap: anywhere; }
@media print {
  :root {
    color-scheme: light;
    --page: #ffffff; --card: #ffffff; --text: #000000; --muted: #444444; --rule: #cccccc; --grid: #e4e4e4; --on: #ffffff;
    --idle: #eeeeee; --fwd: #2f6fd0; --bwd: #d9822b; --sync: #8a4fc4; --step: #2e8b63; --edge: #555555;
  }
  body { max-width: none; padding: 0; font-size: 11pt; }
  section { padding: 10px 0; border: 0; overflow: visible; }
  svg { min-width: 0; }
  svg, tr { break-inside: avoid; }
}
)__css__";

}  // namespace

absl::string_view ReportStyle() { return kStyle; }

}  // namespace sail::driver
