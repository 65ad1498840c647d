#include "runtime/elastic/control_store.h"

#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "gtest/gtest.h"

namespace sail::rt {
namespace {

// The device that this process's listening socket on `port` is bound to; empty for all of them.
std::string DeviceOfListener(int port) {
  for (int fd = 0; fd < 1024; ++fd) {
    int listens = 0;
    socklen_t size = sizeof(listens);
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) continue;
    sockaddr_in6 address = {};
    size = sizeof(address);
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0 || ntohs(address.sin6_port) != port)
      continue;
    char device[IF_NAMESIZE] = "";
    size = sizeof(device);
    EXPECT_EQ(getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, &size), 0);
    return device;
  }
  ADD_FAILURE() << "no socket listens on port " << port;
  return "";
}

void ExpectServes(const ControlStore& server) {
  absl::StatusOr<ControlStore> client = ControlStore::Connect(server.address(), Seconds(5));
  ASSERT_EQ(client.status(), absl::OkStatus());
  EXPECT_EQ(client->Set("key", "value"), absl::OkStatus());
  EXPECT_EQ(*client->Take("key"), "value");
}

TEST(ControlStore, ARunOnOneMachineIsOutOfReachOfOthers) {
  const absl::StatusOr<ControlStore> server = ControlStore::Serve(0, StoreReach::kThisMachine);
  ASSERT_EQ(server.status(), absl::OkStatus());
  EXPECT_EQ(DeviceOfListener(server->address().port), "lo");
  ExpectServes(*server);
}

TEST(ControlStore, ARunOnManyMachinesListensToAll) {
  const absl::StatusOr<ControlStore> server = ControlStore::Serve(0, StoreReach::kNetwork);
  ASSERT_EQ(server.status(), absl::OkStatus());
  EXPECT_EQ(DeviceOfListener(server->address().port), "");
  ExpectServes(*server);
}

TEST(ControlStore, AKeyThatDoesNotComeIsADeadline) {
  absl::StatusOr<ControlStore> server = ControlStore::Serve(0, StoreReach::kThisMachine);
  ASSERT_EQ(server.status(), absl::OkStatus());
  EXPECT_TRUE(absl::IsDeadlineExceeded(server->WaitFor("never", Seconds(0.1)).status()));
}

}  // namespace
}  // namespace sail::rt
