#include "runtime/elastic/control_store.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "c10/util/Logging.h"
#include "compiler/base/check.h"
#include "compiler/base/file_system.h"
#include "runtime/torch_boundary.h"
#include "torch/csrc/distributed/c10d/TCPStore.hpp"

namespace sail::rt {
namespace {

std::chrono::milliseconds Milliseconds(Seconds time) {
  return std::chrono::milliseconds(static_cast<int64_t>(time.value() * 1000) + 1);
}

std::string Key(absl::string_view key) { return absl::StrCat("control/", key); }

// c10d logs what it throws as well; callers show the status, once.
void SilenceLibrary() {
  setenv("TORCH_CPP_LOG_LEVEL", "FATAL", /*overwrite=*/0);
  c10::initLogging();
}

// The result of `call`; Unavailable with action and address if it throws.
template <class Call>
auto CallStore(const StoreAddress& address, absl::string_view action, Call call) -> absl::StatusOr<decltype(call())> {
  absl::StatusOr<decltype(call())> result;
  const absl::Status status =
      CatchTorch(absl::StatusCode::kUnavailable, absl::StrCat("cannot ", action, " ", ToString(address)), [&] {
        result = call();
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return result;
}

bool ListensOn(int fd, int port) {
  int listens = 0;
  socklen_t size = sizeof(listens);
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) return false;
  sockaddr_storage address = {};
  size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  // The port is at the same place in the addresses of both families.
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port) == port;
}

// c10d keeps its listening socket to itself, so it is looked for among this process's descriptors.
absl::Status BindToLoopback(int port) {
  constexpr char kDevice[] = "lo";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    int fd = -1;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &fd) || !ListensOn(fd, port)) continue;
    if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, kDevice, sizeof(kDevice)) == 0) return absl::OkStatus();
    return ErrnoStatus(errno, "bind its socket to the loopback device");
  }
  return absl::InternalError("its socket is not found");
}

}  // namespace

ControlStore::ControlStore(std::shared_ptr<c10d::TCPStore> store, StoreAddress address)
    : store_(std::move(store)), address_(std::move(address)) {}
ControlStore::~ControlStore() = default;

absl::StatusOr<ControlStore> ControlStore::Serve(int port, StoreReach reach) {
  SilenceLibrary();
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(port);
  options.isServer = true;
  options.waitWorkers = false;
  const StoreAddress address{"127.0.0.1", port};
  auto store =
      CallStore(address, "serve the store on", [&] { return std::make_shared<c10d::TCPStore>(address.host, options); });
  if (!store.ok()) return store.status();
  const int served = (*store)->getPort();
  if (reach == StoreReach::kThisMachine) {
    const absl::Status status = BindToLoopback(served);
    if (!status.ok()) {
      std::fprintf(stderr, "sailrun: warning: other machines can reach the store on port %d: %s\n", served,
                   std::string(status.message()).c_str());
    }
  }
  return ControlStore(*store, {address.host, served});
}

absl::StatusOr<ControlStore> ControlStore::Connect(const StoreAddress& address, Seconds timeout) {
  SilenceLibrary();
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(address.port);
  options.waitWorkers = false;
  options.timeout = Milliseconds(timeout);
  auto store = CallStore(address, "reach the controller's store at",
                         [&] { return std::make_shared<c10d::TCPStore>(address.host, options); });
  if (!store.ok()) return store.status();
  return ControlStore(*store, address);
}

absl::Status ControlStore::Set(absl::string_view key, absl::string_view value) {
  SAIL_CHECK(!value.empty()) << key;
  return CallStore(address_, "write to the controller's store at",
                   [&] {
                     store_->set(Key(key), std::vector<uint8_t>(value.begin(), value.end()));
                     return true;
                   })
      .status();
}

absl::StatusOr<int64_t> ControlStore::Increment(absl::string_view key) {
  return CallStore(address_, "write to the controller's store at", [&] { return store_->add(Key(key), 1); });
}

absl::StatusOr<bool> ControlStore::Has(absl::string_view key) {
  return CallStore(address_, "read the controller's store at", [&] { return store_->check({Key(key)}); });
}

absl::StatusOr<std::string> ControlStore::Take(absl::string_view key) {
  return CallStore(address_, "read the controller's store at", [&] {
    const std::vector<uint8_t> value = store_->get(Key(key));
    store_->deleteKey(Key(key));
    return std::string(value.begin(), value.end());
  });
}

absl::StatusOr<std::string> ControlStore::WaitFor(absl::string_view key, Seconds timeout) {
  absl::StatusOr<std::string> waited = CallStore(address_, "wait at the controller's store at", [&] {
    store_->wait({Key(key)}, Milliseconds(timeout));
    const std::vector<uint8_t> value = store_->get(Key(key));
    return std::string(value.begin(), value.end());
  });
  if (waited.ok()) return waited;
  // c10d throws the same type for a timeout and for a lost connection.
  const absl::StatusOr<bool> present = Has(key);
  if (!present.ok()) return present.status();
  return absl::DeadlineExceededError(absl::StrCat("'", key, "' did not appear in ", timeout.value(), " s"));
}

std::string ToString(const StoreAddress& address) { return absl::StrCat(address.host, ":", address.port); }

absl::StatusOr<StoreAddress> ParseStoreAddress(absl::string_view text) {
  const size_t colon = text.rfind(':');
  StoreAddress address;
  if (colon == absl::string_view::npos || colon == 0 || !absl::SimpleAtoi(text.substr(colon + 1), &address.port) ||
      address.port < 1 || address.port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not HOST:PORT"));
  }
  address.host = std::string(text.substr(0, colon));
  return address;
}

}  // namespace sail::rt
