// Makes every call a program may ask of a drive while a signal it handles arrives each millisecond. Prints each call that
// was told EINTR, and each whose answer was not what became of it; "calm" where there was none.
//
// usage: signal-storm timer|children FOLDER ROUNDS

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals = 0;
static int complaints = 0;
static int breeds = 0;

static void handle(int number) {
  (void)number;
  signals++;
}

static void complain(const char *call, const char *what) {
  complaints++;
  printf("%s: %s\n", call, what);
}

/** A child that ends while the next call is under way. */
static void breed(void) {
  if (!breeds) return;
  pid_t child = fork();
  if (child == 0) {
    usleep(500);
    _exit(0);
  }
}

/**
 * Waits until no child is left (none is to be reaped, so this fails in the end). A child has open what its parent had: libfuse 2
 * keeps a file that is deleted while anybody has it open in its folder, under a hidden name.
 */
static void outlive(void) {
  while (wait(NULL) >= 0 || errno == EINTR) {
  }
}

static long checked(const char *call, long result, int isNeeded) {
  if (result < 0 && errno == EINTR) complain(call, "EINTR");
  else if (result < 0 && isNeeded) complain(call, strerrorname_np(errno));
  return result;
}

/** A call that has to work, and one that a drive may refuse. */
#define DO(name, call) (breed(), checked(name, (long)(call), 1))
#define TRY(name, call) (breed(), checked(name, (long)(call), 0))

static void expect(const char *call, const char *path, int isThere) {
  struct stat found;
  int result;
  do result = stat(path, &found);
  while (result < 0 && errno == EINTR);
  if ((result == 0) != isThere) complain(call, isThere ? "not there" : "still there");
}

static void list(const char *path) {
  breed();
  DIR *folder = opendir(path);
  if (folder == NULL) {
    complain("opendir", strerrorname_np(errno));
    return;
  }
  errno = 0;
  while (readdir(folder) != NULL) errno = 0;
  if (errno != 0) complain("readdir", strerrorname_np(errno));
  closedir(folder);
}

static void round_of(const char *top, int number) {
  char one[4096], two[4096], three[4096], inner[4096], moved[4096], deep[4096], bytes[8192];
  snprintf(one, sizeof one, "%s/one-%d.txt", top, number);
  snprintf(two, sizeof two, "%s/two-%d.txt", top, number);
  snprintf(three, sizeof three, "%s/three-%d.txt", top, number);
  snprintf(inner, sizeof inner, "%s/inner-%d", top, number);
  snprintf(moved, sizeof moved, "%s/moved-%d", top, number);
  snprintf(deep, sizeof deep, "%s/deep.txt", inner);
  memset(bytes, 'x', sizeof bytes);

  int fd = DO("create", open(one, O_CREAT | O_EXCL | O_RDWR, 0644));
  if (DO("write", pwrite(fd, bytes, sizeof bytes, 0)) != sizeof bytes) complain("write", "short");
  DO("fsync", fsync(fd));
  TRY("fallocate", fallocate(fd, 0, 0, 12000));
  DO("ftruncate", ftruncate(fd, 6000));
  DO("fstat", fstat(fd, &(struct stat){0}));
  DO("close", close(fd));
  DO("chmod", chmod(one, 0600));
  DO("utimensat", utimensat(AT_FDCWD, one, NULL, 0));
  DO("truncate", truncate(one, 5000));

  fd = DO("open", open(one, O_RDONLY));
  if (DO("read", pread(fd, bytes, sizeof bytes, 0)) != 5000) complain("read", "short");
  int copy = DO("create", open(three, O_CREAT | O_WRONLY, 0644));
  // A copy that the filesystem leaves to the kernel is spliced, and the splice gives way to signals before it begins.
  for (int tries = 0; copy_file_range(fd, NULL, copy, NULL, 5000, 0) < 0 && errno == EINTR && tries < 1000; tries++)
    if (lseek(copy, 0, SEEK_END) != 0) complain("copy_file_range", "EINTR, and something was copied");
  DO("close", close(copy));
  DO("close", close(fd));

  DO("rename", rename(one, two));
  expect("rename", one, 0);
  expect("rename", two, 1);
  DO("rename over", rename(two, three));
  expect("rename over", two, 0);

  DO("mkdir", mkdir(inner, 0755));
  fd = DO("create", open(deep, O_CREAT | O_WRONLY, 0644));
  DO("write", write(fd, "deep", 4));
  DO("close", close(fd));
  DO("rename of a folder", rename(inner, moved));
  expect("rename of a folder", inner, 0);
  list(top);
  list(moved);
  snprintf(deep, sizeof deep, "%s/deep.txt", moved);
  DO("open", fd = open(deep, O_WRONLY | O_TRUNC));
  DO("close", close(fd));
  outlive();
  DO("unlink", unlink(deep));
  expect("unlink", deep, 0);
  DO("rmdir", rmdir(moved));
  expect("rmdir", moved, 0);
  DO("statfs", statfs(top, &(struct statfs){0}));
  DO("unlink", unlink(three));
  expect("unlink", three, 0);
}

int main(int count, char **words) {
  if (count != 4) return 2;
  breeds = strcmp(words[1], "children") == 0;
  // Without SA_RESTART: what is told EINTR is seen.
  struct sigaction action = {.sa_handler = handle};
  if (breeds) action.sa_flags = SA_NOCLDWAIT;
  sigaction(breeds ? SIGCHLD : SIGALRM, &action, NULL);
  struct itimerval each = {{0, 1000}, {0, 1000}};
  if (!breeds) setitimer(ITIMER_REAL, &each, NULL);
  for (int number = 0; number < atoi(words[3]); number++) round_of(words[2], number);
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  if (signals == 0) complain("the storm", "no signal came");
  if (complaints == 0) puts("calm");
  return complaints == 0 ? 0 : 1;
}
