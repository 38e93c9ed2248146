// SPDX-License-Identifier: MIT
// Tests the published calls that open a sink, with a real volume and a real card: what they refuse, and why. What
// arrived is checked from outside (tests/integration/guest.py).
#include "tests/kernel/recording.hpp"

#include <string_view>

namespace {

namespace sink_cases {

using namespace guest;

void refused(int returned, std::string_view argument, std::string_view what) {
    const FTrace_Error error = FTrace_last_error();
    check(returned == -1, what);
    check((error.argument != nullptr ? error.argument : std::string_view{}) == argument, what);
    check(error.text != nullptr, what);
}

int disk_name(const kernel::AppArguments&) {
    for (const char* name : {"../../etc/passwd", "tracer.dat", "trace.data", "tr ce.dat", "trace.", "a.b.c", "/"}) {
        refused(FTrace_init_disk_writer(name, 0, nullptr, nullptr), "fname", name);
    }
    check(FTrace_init_disk_writer("other.x", 0, nullptr, nullptr) == 0, "a name");
    check(FTrace_init_disk_writer("log.bin", 0, nullptr, nullptr) == 0, "a later name replaces it");
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 4711, 0);
    return failures;
}

int udp_target(const kernel::AppArguments& given) {
    const char* const local = given.local_address;
    const char* const target = given.target_address;
    refused(FTrace_OSD_init_udp(0, local, target), "flag", "nothing has started the network");
    refused(FTrace_OSD_init_udp(1, "999.1.1.1", target), "", "no address");
    refused(FTrace_OSD_init_udp(1, local, local), "", "its own target");
    refused(FTrace_OSD_init_udp(0, local, target), "flag", "a bad address has started nothing");
    check(FTrace_OSD_init_udp(1, local, target) == 0, "the first target");
    check(FTrace_OSD_init_udp(0, local, target) == 0, "the same again, and the network is up");
    refused(FTrace_OSD_init_udp(1, "999.1.1.1", target), "", "no address, while the flow is open");
    refused(FTrace_OSD_init_udp(0, local, "192.168.1.256"), "", "no address of a target, while the flow is open");
    refused(FTrace_OSD_init_udp(0, local, "127.0.0.1"), "", "an address of no machine, while the flow is open");
    refused(FTrace_OSD_init_udp(0, local, "192.168.1.2"), "t_ip", "another target");
    refused(FTrace_OSD_init_udp(0, "192.168.1.11", target), "t_ip", "another address of this machine");
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 4711, 0);
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"s_disk_name", "the files have the name that was asked for, or it is refused", &checked<&disk_name>, false},
    {"s_udp_target", "the network is started when asked, towards one target", &checked<&udp_target>, false},
};

} // namespace sink_cases

} // namespace
