#ifndef BELLJAR_KINDS_H
#define BELLJAR_KINDS_H

#include "launch.h"

int kind_of_file_error(int error);
int kind_of_launch_failure(const struct launch_failure *failure);

#endif
