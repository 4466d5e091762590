/* The one program of an image from scratch: echo, cat, exit N, sleep N, env NAME, fork N (leaves a child in a session of its own). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int echo(int count, char **words) {
	for (int i = 0; i < count; i++) printf("%s%s", i ? " " : "", words[i]);
	putchar('\n');
	return 0;
}

static int cat(void) {
	char buffer[65536];
	size_t size;
	while ((size = fread(buffer, 1, sizeof buffer, stdin)) > 0) fwrite(buffer, 1, size, stdout);
	return 0;
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "sleep";
	int number = argc > 2 ? atoi(argv[2]) : 86400;
	if (!strcmp(what, "echo")) return echo(argc - 2, argv + 2);
	if (!strcmp(what, "cat")) return cat();
	if (!strcmp(what, "exit")) return number;
	if (!strcmp(what, "env")) return puts(getenv(argv[2]) ? getenv(argv[2]) : "unset") < 0;
	if (!strcmp(what, "fork") && fork() == 0) setsid();
	sleep((unsigned)number);
	return 0;
}
