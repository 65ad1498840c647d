#include "runtime/comm/gloo_communicator.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status_macros.h"
#include "runtime/torch_boundary.h"
#include "torch/csrc/distributed/c10d/HashStore.hpp"
#include "torch/csrc/distributed/c10d/PrefixStore.hpp"
#include "torch/csrc/distributed/c10d/ProcessGroupGloo.hpp"
#include "torch/csrc/distributed/c10d/TCPStore.hpp"

namespace sail::rt {

struct GlooNetwork::State {
  c10::intrusive_ptr<c10d::Store> store;
  std::shared_ptr<gloo::transport::Device> device;  // shared by all groups of the process: one I/O thread
  std::chrono::milliseconds deadline;
};

namespace {

using Group = c10::intrusive_ptr<c10d::ProcessGroupGloo>;
using Work = c10::intrusive_ptr<c10d::Work>;

class GlooTransfer : public Transfer {
 public:
  explicit GlooTransfer(std::function<absl::Status()> wait) : wait_(std::move(wait)) {}
  absl::Status Wait() override { return wait_(); }

 private:
  std::function<absl::Status()> wait_;
};

class GlooCommunicator : public Communicator {
 public:
  GlooCommunicator(std::vector<ir::Rank> members, ir::Rank self, Group group)
      : Communicator(std::move(members), self), group_(std::move(group)) {}

  absl::Status AllReduce(at::Tensor tensor, Reduction reduction) override {
    return Call(absl::StrCat("all-reduce with ", Peers()), [&] {
      std::vector<at::Tensor> tensors{tensor};
      c10d::AllreduceOptions options;
      options.reduceOp = reduction == Reduction::kSum ? c10d::ReduceOp::SUM : c10d::ReduceOp::MAX;
      group_->allreduce(tensors, options)->wait();
    });
  }
  absl::Status Broadcast(at::Tensor tensor, int root) override {
    return Call(absl::StrCat("broadcast from rank ", members()[root].index(), " with ", Peers()), [&] {
      std::vector<at::Tensor> tensors{tensor};
      c10d::BroadcastOptions options;
      options.rootRank = root;
      group_->broadcast(tensors, options)->wait();
    });
  }
  absl::Status Barrier() override {
    return Call(absl::StrCat("barrier with ", Peers()), [&] { group_->barrier()->wait(); });
  }

  std::unique_ptr<Transfer> Send(at::Tensor tensor, int peer, int tag) override {
    return Start(absl::StrCat("send to rank ", members()[peer].index()), [&] {
      std::vector<at::Tensor> tensors{tensor};
      return group_->send(tensors, peer, tag);
    });
  }
  std::unique_ptr<Transfer> Receive(at::Tensor tensor, int peer, int tag) override {
    return Start(absl::StrCat("receive from rank ", members()[peer].index()), [&] {
      std::vector<at::Tensor> tensors{tensor};
      return group_->recv(tensors, peer, tag);
    });
  }

 private:
  // Runs one operation of the group; an exception breaks the group. Gloo leaves members that are not neighbours of a
  // dead rank waiting until their connections close, so the process group is destroyed at once.
  template <class Operation>
  absl::Status Call(absl::string_view action, Operation operation) {
    if (!status().ok()) return status();
    absl::Status result = CatchTorch(absl::StatusCode::kUnavailable, action, [&] {
      operation();
      return absl::OkStatus();
    });
    if (result.ok()) return result;
    group_.reset();
    return Keep(std::move(result));
  }

  template <class Operation>
  std::unique_ptr<Transfer> Start(std::string action, Operation operation) {
    Work work;
    // A failure to start is sticky, so the wait below reports it.
    Call(action, [&] { work = operation(); }).IgnoreError();
    return std::make_unique<GlooTransfer>(
        [this, action = std::move(action), work = std::move(work)] { return Call(action, [&] { work->wait(); }); });
  }

  std::string Peers() const {
    std::vector<ir::Rank> peers;
    for (const ir::Rank rank : members()) {
      if (rank != members()[index()]) peers.push_back(rank);
    }
    return RankList(peers);
  }

  Group group_;
};

// The address of this machine from which `host` is reached: the one that other ranks reach too, whatever the machine's
// own name resolves to. Nothing is sent.
absl::StatusOr<std::string> LocalAddressTowards(const std::string& host, int port) {
  const addrinfo hints{.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM};
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), absl::StrCat(port).c_str(), &hints, &found);
  if (error != 0) return absl::UnavailableError(absl::StrCat("cannot resolve '", host, "': ", gai_strerror(error)));
  char text[NI_MAXHOST] = "";
  const int socket_fd = socket(found->ai_family, found->ai_socktype, 0);
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  const bool known =
      socket_fd >= 0 && connect(socket_fd, found->ai_addr, found->ai_addrlen) == 0 &&
      getsockname(socket_fd, reinterpret_cast<sockaddr*>(&local), &size) == 0 &&
      getnameinfo(reinterpret_cast<sockaddr*>(&local), size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0;
  if (socket_fd >= 0) close(socket_fd);
  freeaddrinfo(found);
  if (!known) return absl::UnavailableError(absl::StrCat("no route to ", host, ":", port));
  return std::string(text);
}

// `open` fills in store and device. Gloo writes to sockets whose other end may be gone; the signal that this raises
// would end the process before the error is returned, so it is ignored from here on.
absl::StatusOr<std::shared_ptr<GlooNetwork::State>> MakeState(Seconds deadline, absl::string_view action,
                                                              absl::FunctionRef<void(GlooNetwork::State&)> open) {
  std::signal(SIGPIPE, SIG_IGN);
  auto state = std::make_shared<GlooNetwork::State>();
  state->deadline = std::chrono::milliseconds(static_cast<int64_t>(deadline.value() * 1000) + 1);
  SAIL_RETURN_IF_ERROR(CatchTorch(absl::StatusCode::kUnavailable, action, [&] {
    open(*state);
    return absl::OkStatus();
  }));
  return state;
}

}  // namespace

GlooNetwork::GlooNetwork(std::shared_ptr<State> state) : state_(std::move(state)) {}
GlooNetwork::GlooNetwork(const GlooNetwork&) = default;
GlooNetwork::~GlooNetwork() = default;

absl::StatusOr<GlooNetwork> GlooNetwork::Create(const std::string& host, int port, Seconds deadline) {
  SAIL_ASSIGN_OR_RETURN(const std::string local, LocalAddressTowards(host, port));
  SAIL_ASSIGN_OR_RETURN(
      std::shared_ptr<State> state,
      MakeState(deadline, absl::StrCat("cannot reach the store at ", host, ":", port), [&](State& made) {
        c10d::TCPStoreOptions options;
        options.port = static_cast<uint16_t>(port);
        options.waitWorkers = false;
        options.timeout = made.deadline;
        made.store = c10::make_intrusive<c10d::TCPStore>(host, options);
        made.device = c10d::ProcessGroupGloo::createDeviceForHostname(local);
      }));
  return GlooNetwork(std::move(state));
}

absl::StatusOr<GlooNetwork> GlooNetwork::CreateInProcess(Seconds deadline) {
  SAIL_ASSIGN_OR_RETURN(std::shared_ptr<State> state,
                        MakeState(deadline, "cannot open a loopback device", [](State& made) {
                          made.store = c10::make_intrusive<c10d::HashStore>();
                          made.store->setTimeout(made.deadline);
                          made.device = c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
                        }));
  return GlooNetwork(std::move(state));
}

absl::StatusOr<std::unique_ptr<Communicator>> GlooNetwork::Connect(const std::vector<ir::Rank>& members,
                                                                   ir::Rank self) const {
  std::vector<int> indices;
  int index = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    indices.push_back(members[i].index());
    if (members[i] == self) index = static_cast<int>(i);
  }
  std::unique_ptr<Communicator> communicator;
  SAIL_RETURN_IF_ERROR(CatchTorch(absl::StatusCode::kUnavailable, absl::StrCat("connecting ", RankList(members)), [&] {
    auto options = c10d::ProcessGroupGloo::Options::create(state_->deadline);
    options->devices.push_back(state_->device);
    options->threads = 1;  // collectives of a group are called one after the other
    auto store =
        c10::make_intrusive<c10d::PrefixStore>(absl::StrCat("group/", absl::StrJoin(indices, ",")), state_->store);
    communicator = std::make_unique<GlooCommunicator>(
        members, self,
        c10::make_intrusive<c10d::ProcessGroupGloo>(store, index, static_cast<int>(members.size()), options));
    return absl::OkStatus();
  }));
  return communicator;
}

}  // namespace sail::rt
