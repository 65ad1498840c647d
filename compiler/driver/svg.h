// A drawing, element by element. Lengths are pixels of the drawing, written to a hundredth: the right edge of a box is
// rounded like the left edge of its neighbour, so that boxes which touch still do.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace sail::driver {

// "12.5", "-3", "0.25": two decimals at most. |value| < 10000.
std::string Pixels(double value);

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

class Svg {
 public:
  // `id` is unique in the page; title and description are what people hear who do not see the drawing.
  Svg(double width, absl::string_view id, absl::string_view title, absl::string_view description);

  // Elements carry CSS classes; the style is the page's. `note` is shown when the pointer rests on the box.
  void Rect(const Box& box, absl::string_view classes, absl::string_view note = "");
  void Line(double x1, double y1, double x2, double y2, absl::string_view classes);
  void Text(double x, double y, absl::string_view classes, absl::string_view text);
  // `path` is SVG path data, `attributes` is written as it is.
  void Path(absl::string_view path, absl::string_view classes, absl::string_view attributes, absl::string_view note);
  // What follows belongs to a group with that data attribute: <g data-row="…">.
  void Open(absl::string_view data_row);
  void Close();
  // Written as it is: definitions of patterns and markers.
  void Define(absl::string_view definitions);

  // The element, of that height.
  std::string Finish(double height) const;

 private:
  double width_;
  std::string head_;  // attributes and texts after the size
  std::string body_;
};

// Round places on an axis from 0 to `end` > 0: multiples of 1, 2 or 5 · 10^k, at most `most` of them, 0 included.
std::vector<double> AxisTicks(double end, int most);

}  // namespace sail::driver
