#include "compiler/driver/lsp/server.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/driver/lsp/completion.h"
#include "compiler/driver/lsp/definition.h"
#include "compiler/driver/lsp/formatting.h"
#include "compiler/driver/lsp/hover.h"
#include "compiler/driver/lsp/outline.h"
#include "compiler/driver/lsp/protocol.h"

namespace sail::lsp {
namespace {

// JSON-RPC and the protocol number their errors.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kNotInitialized = -32002;

constexpr int kIncrementalChanges = 2;  // TextDocumentSyncKind
constexpr int kLogError = 1;            // MessageType

Json Capabilities() {
  return {{"positionEncoding", "utf-16"},
          {"textDocumentSync", {{"openClose", true}, {"change", kIncrementalChanges}}},
          {"completionProvider", {{"triggerCharacters", {" ", ".", "/", "\"", "="}}}},
          {"definitionProvider", true},
          {"documentSymbolProvider", true},
          {"hoverProvider", true},
          {"referencesProvider", true},
          {"documentFormattingProvider", true}};
}

std::string PathIn(const Documents& documents, const Json& params) {
  const absl::StatusOr<const Document*> document = documents.Find(params);
  return document.ok() ? (*document)->path : "";
}

}  // namespace

struct Server::Request {
  const char* method;
  RequestHandler handler;
};
struct Server::Notification {
  const char* method;
  NotificationHandler handler;
};

const Server::Request Server::kRequests[] = {
    {"shutdown", &Server::Shutdown},
    {"textDocument/completion", &Server::CompletionAt},
    {"textDocument/definition", &Server::DefinitionAt},
    {"textDocument/documentSymbol", &Server::OutlineOf},
    {"textDocument/formatting", &Server::FormattingOf},
    {"textDocument/hover", &Server::HoverAt},
    {"textDocument/references", &Server::ReferencesAt},
};

const Server::Notification Server::kNotifications[] = {
    {"textDocument/didChange", &Server::DidChange},
    {"textDocument/didClose", &Server::DidClose},
    {"textDocument/didOpen", &Server::DidOpen},
};

bool Server::Run() {
  bool asked = false;
  while (state_ != State::kExited) {
    const absl::StatusOr<std::optional<std::string>> body = transport_.Read();
    if (!body.ok()) {
      ReplyError(nullptr, kParseError, std::string(body.status().message()));
      return false;
    }
    asked = state_ == State::kShutDown;
    if (!body->has_value()) break;
    Handle(**body);
  }
  return asked;
}

void Server::Handle(const std::string& body) {
  const absl::StatusOr<Json> message = ParseJson(body, "message");
  if (!message.ok()) return ReplyError(nullptr, kParseError, std::string(message.status().message()));
  const Json* id = FindMember(*message, {"id"});
  const absl::StatusOr<std::string> method = StringAt(*message, {"method"});
  const bool is_answer = message->contains("result") || message->contains("error");
  if (is_answer && FindMember(*message, {"method"}) == nullptr) return;  // the server asks nothing
  const bool sound_id = id == nullptr || id->is_string() || id->is_number_integer();
  if (!method.ok() || !sound_id) {
    return ReplyError(sound_id && id != nullptr ? *id : Json(), kInvalidRequest, "this is not a request");
  }
  const Json* params = FindMember(*message, {"params"});
  const Json none = Json::object();
  if (id != nullptr) {
    HandleRequest(*method, *id, params != nullptr ? *params : none);
  } else {
    HandleNotification(*method, params != nullptr ? *params : none);
  }
}

void Server::HandleRequest(const std::string& method, const Json& id, const Json& params) {
  if (method == "initialize" && state_ == State::kNew) return Reply(id, *Initialize(params));
  if (state_ == State::kNew) return ReplyError(id, kNotInitialized, "the first request is `initialize`");
  if (method == "initialize" || state_ == State::kShutDown) {
    return ReplyError(id, kInvalidRequest, absl::StrCat("`", method, "` comes too late"));
  }
  for (const Request& request : kRequests) {
    if (method != request.method) continue;
    absl::StatusOr<Json> result = (this->*request.handler)(params);
    if (!result.ok()) return ReplyError(id, kInvalidParams, std::string(result.status().message()));
    return Reply(id, *std::move(result));
  }
  ReplyError(id, kMethodNotFound, absl::StrCat("`", method, "` is not supported"));
}

// Notifications get no answer: what is not known, or comes too early or too late, is ignored.
void Server::HandleNotification(const std::string& method, const Json& params) {
  if (method == "exit") {
    state_ = State::kExited;
    return;
  }
  if (state_ != State::kRunning) return;
  for (const Notification& notification : kNotifications) {
    if (method != notification.method) continue;
    const absl::Status status = (this->*notification.handler)(params);
    if (!status.ok()) {
      Notify("window/logMessage",
             {{"type", kLogError}, {"message", absl::StrCat(method, ": ", std::string(status.message()))}});
    }
    return;
  }
}

absl::StatusOr<Json> Server::Initialize(const Json&) {
  state_ = State::kRunning;
  return Json{{"capabilities", Capabilities()}, {"serverInfo", {{"name", "sailc"}}}};
}

absl::StatusOr<Json> Server::Shutdown(const Json&) {
  state_ = State::kShutDown;
  return Json();
}

absl::StatusOr<Json> Server::CompletionAt(const Json& params) {
  SAIL_ASSIGN_OR_RETURN(const Document* document, documents_.Find(params));
  SAIL_ASSIGN_OR_RETURN(const Position position, PositionIn(params, {"position"}));
  const absl::StatusOr<std::string> typed = StringAt(params, {"context", "triggerCharacter"});
  return Completion(*document, checked_.LastParsed(*document), position, typed.ok() ? *typed : "");
}

absl::StatusOr<Json> Server::DefinitionAt(const Json& params) {
  SAIL_ASSIGN_OR_RETURN(const Document* document, documents_.Find(params));
  SAIL_ASSIGN_OR_RETURN(const Position position, PositionIn(params, {"position"}));
  return Definition(checked_.Of(*document), documents_, position);
}

absl::StatusOr<Json> Server::HoverAt(const Json& params) {
  SAIL_ASSIGN_OR_RETURN(const Document* document, documents_.Find(params));
  SAIL_ASSIGN_OR_RETURN(const Position position, PositionIn(params, {"position"}));
  return Hover(*document, checked_.Of(*document), position);
}

absl::StatusOr<Json> Server::OutlineOf(const Json& params) {
  SAIL_ASSIGN_OR_RETURN(const Document* document, documents_.Find(params));
  return Outline(checked_.Of(*document));
}

absl::StatusOr<Json> Server::ReferencesAt(const Json& params) {
  SAIL_ASSIGN_OR_RETURN(const Document* document, documents_.Find(params));
  SAIL_ASSIGN_OR_RETURN(const Position position, PositionIn(params, {"position"}));
  const Json* with_declaration = FindMember(params, {"context", "includeDeclaration"});
  return References(checked_.Of(*document), checked_, documents_, position,
                    with_declaration != nullptr && *with_declaration == true);
}

absl::StatusOr<Json> Server::FormattingOf(const Json& params) {
  SAIL_ASSIGN_OR_RETURN(const Document* document, documents_.Find(params));
  return Formatting(*document);
}

absl::Status Server::DidOpen(const Json& params) {
  SAIL_RETURN_IF_ERROR(documents_.Open(params));
  Publish(PathIn(documents_, params));
  return absl::OkStatus();
}

absl::Status Server::DidChange(const Json& params) {
  SAIL_RETURN_IF_ERROR(documents_.Change(params));
  Publish(PathIn(documents_, params));
  return absl::OkStatus();
}

absl::Status Server::DidClose(const Json& params) {
  const std::string path = PathIn(documents_, params);
  SAIL_RETURN_IF_ERROR(documents_.Close(params));
  Publish(path);
  return absl::OkStatus();
}

void Server::Publish(const std::string& changed_path) {
  checked_.Refresh(documents_);
  for (Json& params : diagnostics_.Refresh(documents_, checked_, changed_path)) {
    Notify("textDocument/publishDiagnostics", std::move(params));
  }
}

void Server::Reply(const Json& id, Json result) {
  transport_.Write({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

void Server::ReplyError(const Json& id, int code, const std::string& message) {
  transport_.Write({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}});
}

void Server::Notify(const std::string& method, Json params) {
  transport_.Write({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

}  // namespace sail::lsp
