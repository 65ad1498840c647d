#include "compiler/driver/svg.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/base/check.h"
#include "compiler/driver/html_text.h"

namespace sail::driver {
namespace {

double Hundredths(double value) { return std::round(value * 100); }

std::string Attribute(absl::string_view name, double value) {
  return absl::StrCat(" ", name, "=\"", Pixels(value), "\"");
}

std::string NoteElement(absl::string_view note) {
  return note.empty() ? "" : absl::StrCat("<title>", EscapeHtml(note), "</title>");
}

}  // namespace

std::string Pixels(double value) {
  const double rounded = Hundredths(value) / 100;
  return rounded == 0 ? "0" : absl::StrCat(rounded);  // six digits, no minus zero
}

Svg::Svg(double width, absl::string_view id, absl::string_view title, absl::string_view description)
    : width_(width),
      head_(absl::StrCat(" role=\"img\" aria-labelledby=\"", id, "-title ", id, "-desc\">\n<title id=\"", id,
                         "-title\">", EscapeHtml(title), "</title>\n<desc id=\"", id, "-desc\">",
                         EscapeHtml(description), "</desc>\n")) {}

void Svg::Rect(const Box& box, absl::string_view classes, absl::string_view note) {
  const double left = Hundredths(box.x) / 100;
  const double right = Hundredths(box.x + box.width) / 100;
  absl::StrAppend(&body_, "<rect class=\"", classes, "\"", Attribute("x", left), Attribute("y", box.y),
                  Attribute("width", right - left), Attribute("height", box.height));
  absl::StrAppend(&body_, note.empty() ? "/>\n" : absl::StrCat(">", NoteElement(note), "</rect>\n"));
}

void Svg::Line(double x1, double y1, double x2, double y2, absl::string_view classes) {
  absl::StrAppend(&body_, "<line class=\"", classes, "\"", Attribute("x1", x1), Attribute("y1", y1),
                  Attribute("x2", x2), Attribute("y2", y2), "/>\n");
}

void Svg::Text(double x, double y, absl::string_view classes, absl::string_view text) {
  absl::StrAppend(&body_, "<text class=\"", classes, "\"", Attribute("x", x), Attribute("y", y), ">", EscapeHtml(text),
                  "</text>\n");
}

void Svg::Path(absl::string_view path, absl::string_view classes, absl::string_view attributes,
               absl::string_view note) {
  absl::StrAppend(&body_, "<path class=\"", classes, "\" d=\"", path, "\" ", attributes, ">", NoteElement(note),
                  "</path>\n");
}

void Svg::Open(absl::string_view data_row) { absl::StrAppend(&body_, "<g data-row=\"", EscapeHtml(data_row), "\">\n"); }

void Svg::Close() { body_ += "</g>\n"; }

void Svg::Define(absl::string_view definitions) { absl::StrAppend(&body_, "<defs>", definitions, "</defs>\n"); }

std::string Svg::Finish(double height) const {
  return absl::StrCat("<svg viewBox=\"0 0 ", Pixels(width_), " ", Pixels(height), "\"", head_, body_, "</svg>\n");
}

std::vector<double> AxisTicks(double end, int most) {
  SAIL_CHECK(end > 0 && most >= 2) << end << ", " << most;
  const double least = end / (most - 1);
  const double power = std::pow(10, std::floor(std::log10(least)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= least) step = factor * power;
  }
  std::vector<double> ticks;
  for (int i = 0; i < most && i * step <= end; ++i) ticks.push_back(i * step);
  return ticks;
}

}  // namespace sail::driver
