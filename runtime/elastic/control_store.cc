#include "runtime/elastic/control_store.h"

#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "c10/util/Logging.h"
#include "compiler/base/check.h"
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

}  // namespace

ControlStore::ControlStore(std::shared_ptr<c10d::TCPStore> store, StoreAddress address)
    : store_(std::move(store)), address_(std::move(address)) {}
ControlStore::~ControlStore() = default;

absl::StatusOr<ControlStore> ControlStore::Serve(int port) {
  SilenceLibrary();
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(port);
  options.isServer = true;
  options.waitWorkers = false;
  const StoreAddress address{"127.0.0.1", port};
  auto store =
      CallStore(address, "serve the store on", [&] { return std::make_shared<c10d::TCPStore>(address.host, options); });
  if (!store.ok()) return store.status();
  return ControlStore(*store, {address.host, (*store)->getPort()});
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
