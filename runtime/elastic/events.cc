#include "runtime/elastic/events.h"

#include <cmath>
#include <limits>

#include "compiler/base/json.h"
#include "compiler/base/status_macros.h"

namespace sail::rt {
namespace {

// One line; bytes that are not UTF-8 (a library's message) are replaced.
std::string OneLine(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json StepJson(const StepResult& step) {
  Json json = {{"step", step.step}, {"seconds", step.seconds}, {"samples", step.samples}};
  json["loss"] = std::isfinite(step.loss) ? Json(step.loss) : Json();  // JSON has no NaN
  return json;
}

absl::StatusOr<StepResult> ParseStep(const Json& json) {
  ObjectReader reader(json, "step");
  StepResult step;
  reader.Get("step", &step.step);
  reader.Get("seconds", &step.seconds);
  reader.Get("samples", &step.samples);
  if (reader.Has("loss")) {
    reader.Get("loss", &step.loss);
  } else {
    reader.Ignore("loss");
    step.loss = std::numeric_limits<double>::quiet_NaN();
  }
  SAIL_RETURN_IF_ERROR(reader.Finish());
  return step;
}

Json ErrorJson(const absl::Status& status) {
  return {{"code", static_cast<int>(status.code())}, {"message", std::string(status.message())}};
}

// Into `out`, because a StatusOr cannot hold a failed status as its value.
absl::Status ParseError(const Json& json, absl::Status* out) {
  ObjectReader reader(json, "error");
  int code = 0;
  std::string message;
  reader.Get("code", &code);
  reader.Get("message", &message);
  SAIL_RETURN_IF_ERROR(reader.Finish());
  if (code <= 0 || code > 16) return absl::InvalidArgumentError("error.code: not an error");
  *out = absl::Status(static_cast<absl::StatusCode>(code), message);
  return absl::OkStatus();
}

Json ExitJson(const WorkerExited& exited) {
  return {{"code", exited.exit.code},
          {"signal", exited.exit.signal},
          {"on_request", exited.on_request},
          {"log_tail", exited.log_tail}};
}

absl::StatusOr<WorkerExited> ParseExit(const Json& json) {
  ObjectReader reader(json, "exited");
  WorkerExited exited;
  reader.Get("code", &exited.exit.code);
  reader.Get("signal", &exited.exit.signal);
  reader.Get("on_request", &exited.on_request);
  reader.Get("log_tail", &exited.log_tail);
  SAIL_RETURN_IF_ERROR(reader.Finish());
  return exited;
}

absl::StatusOr<WorkerEvent> ParseEvent(const Json& json) {
  ObjectReader reader(json, "event");
  int rank = -1;
  reader.Get("rank", &rank);
  WorkerEvent event{.rank = ir::Rank(rank), .what = {}};
  if (reader.Has("pid")) {
    WorkerStarted started;
    reader.Get("pid", &started.pid);
    event.what = started;
  } else if (reader.Has("step")) {
    SAIL_ASSIGN_OR_RETURN(event.what, ParseStep(reader.Raw("step")));
  } else if (reader.Has("error")) {
    absl::Status error;
    SAIL_RETURN_IF_ERROR(ParseError(reader.Raw("error"), &error));
    event.what = error;
  } else {
    SAIL_ASSIGN_OR_RETURN(event.what, ParseExit(reader.Raw("exited")));
  }
  SAIL_RETURN_IF_ERROR(reader.Finish());
  return event;
}

struct EventJson {
  Json operator()(const WorkerStarted& started) const { return {{"pid", started.pid}}; }
  Json operator()(const StepResult& step) const { return {{"step", StepJson(step)}}; }
  Json operator()(const absl::Status& error) const { return {{"error", ErrorJson(error)}}; }
  Json operator()(const WorkerExited& exited) const { return {{"exited", ExitJson(exited)}}; }
};

}  // namespace

std::string PrintWorkerMessage(const WorkerMessage& message) {
  if (const auto* step = std::get_if<StepResult>(&message)) return OneLine(StepJson(*step)) + "\n";
  return OneLine({{"error", ErrorJson(std::get<absl::Status>(message))}}) + "\n";
}

absl::StatusOr<WorkerMessage> ParseWorkerMessage(absl::string_view line) {
  SAIL_ASSIGN_OR_RETURN(const Json json, ParseJson(line, "worker message"));
  if (!json.is_object() || !json.contains("error")) return ParseStep(json);
  ObjectReader reader(json, "message");
  absl::Status error;
  SAIL_RETURN_IF_ERROR(ParseError(reader.Raw("error"), &error));
  SAIL_RETURN_IF_ERROR(reader.Finish());
  return WorkerMessage(std::move(error));
}

std::string PrintEvents(const std::vector<WorkerEvent>& events) {
  Json list = Json::array();
  for (const WorkerEvent& event : events) {
    Json json = std::visit(EventJson(), event.what);
    json["rank"] = event.rank.index();
    list.push_back(std::move(json));
  }
  return OneLine(list);
}

absl::StatusOr<std::vector<WorkerEvent>> ParseEvents(absl::string_view text) {
  SAIL_ASSIGN_OR_RETURN(const Json list, ParseJson(text, "events"));
  if (!list.is_array()) return absl::InvalidArgumentError("events: expected a list");
  std::vector<WorkerEvent> events;
  for (const Json& json : list) {
    SAIL_ASSIGN_OR_RETURN(events.emplace_back(), ParseEvent(json));
  }
  return events;
}

}  // namespace sail::rt
