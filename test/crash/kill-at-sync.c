/* Ends the process with SIGKILL at a chosen sync to disk: the number in the file $KILL_AT_SYNC counts down with each
 * fsync and fdatasync, and the process dies before the one that takes it to zero. Preloaded into a daemon by a test. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void count_down(void) {
  const char *path = getenv("KILL_AT_SYNC");
  if (path == NULL) return;
  pthread_mutex_lock(&lock);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd >= 0) {
    char text[16] = {0};
    if (read(fd, text, sizeof text - 1) > 0) {
      int left = atoi(text) - 1;
      if (left <= 0) kill(getpid(), SIGKILL);
      int length = snprintf(text, sizeof text, "%-8d", left);
      if (pwrite(fd, text, (size_t)length, 0) < 0) _exit(1);
    }
    close(fd);
  }
  pthread_mutex_unlock(&lock);
}

int fsync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  count_down();
  return real(fd);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  count_down();
  return real(fd);
}
