// The language server: one message at a time, from `initialize` to `exit`.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "compiler/base/file_system.h"
#include "compiler/base/json.h"
#include "compiler/driver/lsp/checked_document.h"
#include "compiler/driver/lsp/diagnostics.h"
#include "compiler/driver/lsp/documents.h"
#include "compiler/driver/lsp/transport.h"

namespace sail::lsp {

class Server {
 public:
  // Both must outlive the server.
  Server(const FileSystem& disk, Transport& transport) : documents_(disk), transport_(transport) {}

  // Serves until `exit`, the end of the input or a broken frame. True if the editor asked for `shutdown` before.
  bool Run();

 private:
  enum class State { kNew, kRunning, kShutDown, kExited };
  using RequestHandler = absl::StatusOr<Json> (Server::*)(const Json& params);
  using NotificationHandler = absl::Status (Server::*)(const Json& params);

  void Handle(const std::string& body);
  void HandleRequest(const std::string& method, const Json& id, const Json& params);
  void HandleNotification(const std::string& method, const Json& params);

  absl::StatusOr<Json> Initialize(const Json& params);
  absl::StatusOr<Json> Shutdown(const Json& params);
  absl::StatusOr<Json> CompletionAt(const Json& params);
  absl::StatusOr<Json> DefinitionAt(const Json& params);
  absl::StatusOr<Json> FormattingOf(const Json& params);
  absl::StatusOr<Json> HoverAt(const Json& params);
  absl::StatusOr<Json> OutlineOf(const Json& params);
  absl::StatusOr<Json> ReferencesAt(const Json& params);
  absl::Status DidOpen(const Json& params);
  absl::Status DidChange(const Json& params);
  absl::Status DidClose(const Json& params);

  void Publish(const std::string& changed_path);
  void Reply(const Json& id, Json result);
  void ReplyError(const Json& id, int code, const std::string& message);
  void Notify(const std::string& method, Json params);

  struct Request;
  struct Notification;
  static const Request kRequests[];
  static const Notification kNotifications[];

  State state_ = State::kNew;
  Documents documents_;
  CheckedDocuments checked_;  // of the documents as they are
  DiagnosticsFeature diagnostics_;
  Transport& transport_;
};

}  // namespace sail::lsp
