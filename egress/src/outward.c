#include "egress.h"

int outward_connect(char *host, uint16_t port) {
    struct addresses found = {.count = 1};
    bool by_name = !parse_address(host, &found.list[0]), any = false;
    if (by_name) {
        if (!normal_name(host) || !allow_name(host))
            return OUTWARD_DENIED;
        if (!resolve(host, &found))
            return OUTWARD_UNRESOLVED;
    }
    for (int i = 0; i < found.count; i++) {
        if (!allow_address(found.list[i], by_name))
            continue;
        any = true;
        int fd = connect_address(found.list[i], port);
        if (fd >= 0)
            return fd;
    }
    return any ? OUTWARD_UNREACHABLE : OUTWARD_DENIED;
}
