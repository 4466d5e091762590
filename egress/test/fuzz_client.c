/* Whatever a client says, in one piece: the first byte chooses to which of the gateway's ports. */
#include <sys/socket.h>
#include <unistd.h>

#include "../src/egress.h"

/* An upstream that takes what it is sent and says nothing. */
int outward_connect(char *host, uint16_t port) {
    int ends[2];
    if (port == 0 || host[0] == 'x' || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return OUTWARD_DENIED;
    close(ends[1]);
    return ends[0];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int ends[2], room = 1 << 20;
    if (size == 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 0;
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    deadline_set(2);
    if (write_all(ends[1], data + 1, size - 1) && shutdown(ends[1], SHUT_WR) == 0) {
        void (*const serve[])(int) = {serve_proxy, serve_http, serve_tls};
        serve[*data % 3](ends[0]);
    }
    close(ends[0]);
    close(ends[1]);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    return 0;
}
