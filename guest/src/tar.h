#ifndef BELLJAR_TAR_H
#define BELLJAR_TAR_H

#include <stdint.h>

#define TAR_BLOCK 512

struct tar_header {
    char name[100];
    char mode[8];
    char uid[8];
    char gid[8];
    char size[12];
    char mtime[12];
    char checksum[8];
    char type;
    char link[100];
    char magic[6];
    char version[2];
    char owner[32];
    char group[32];
    char major[8];
    char minor[8];
    char prefix[155];
    char padding[12];
};

unsigned tar_checksum(const struct tar_header *header);

#endif
