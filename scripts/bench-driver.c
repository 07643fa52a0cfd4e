// The yardstick of `scripts/bench-driver`: a filesystem in memory on libfuse's low-level API, single-threaded, with the
// times to live of the one it is compared with. Only what the measurements use.
#define FUSE_USE_VERSION 312
#include <errno.h>
#include <fuse3/fuse_lowlevel.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct node {
  char *name;
  struct node *parent, *next, *first_child, *last_child, *next_child;
  struct stat attributes;
  char *data;
  size_t room;
};

static const double time_to_live = 60;
static struct node *root;
static struct node *names[1 << 17];
static ino_t last_ino;

static size_t slot_of(struct node *parent, const char *name) {
  size_t hash = (size_t)parent;
  for (; *name; name++) hash = hash * 31 + (unsigned char)*name;
  return (hash ^ (hash >> 17)) & ((1 << 17) - 1);
}

static struct node *at(fuse_ino_t ino) { return ino == FUSE_ROOT_ID ? root : (struct node *)ino; }

static struct node *find(struct node *parent, const char *name) {
  struct node *node = names[slot_of(parent, name)];
  while (node && (node->parent != parent || strcmp(node->name, name))) node = node->next;
  return node;
}

static struct node *add(struct node *parent, const char *name, mode_t mode) {
  struct node *node = calloc(1, sizeof *node);
  node->name = strdup(name);
  node->parent = parent;
  node->attributes.st_mode = mode;
  node->attributes.st_nlink = 1;
  node->attributes.st_ino = ++last_ino;
  node->attributes.st_blksize = 128 * 1024;
  node->attributes.st_uid = getuid();
  node->attributes.st_gid = getgid();
  clock_gettime(CLOCK_REALTIME, &node->attributes.st_mtim);
  node->attributes.st_atim = node->attributes.st_ctim = node->attributes.st_mtim;
  if (parent) {
    size_t slot = slot_of(parent, name);
    node->next = names[slot];
    names[slot] = node;
    if (parent->last_child) parent->last_child->next_child = node;
    else parent->first_child = node;
    parent->last_child = node;
  }
  return node;
}

static void resize(struct node *node, size_t size) {
  if (size > node->room) {
    size_t room = node->room * 2 > size ? node->room * 2 : size;
    node->data = realloc(node->data, room);
    memset(node->data + node->room, 0, room - node->room);
    node->room = room;
  }
  node->attributes.st_size = (off_t)size;
  node->attributes.st_blocks = (blkcnt_t)((size + 511) / 512);
}

static struct fuse_entry_param entry_of(struct node *node) {
  struct fuse_entry_param entry = {.ino = node == root ? FUSE_ROOT_ID : (fuse_ino_t)node, .attr = node->attributes};
  entry.attr_timeout = entry.entry_timeout = time_to_live;
  return entry;
}

static void init(void *data, struct fuse_conn_info *connection) {
  (void)data;
  connection->want &= ~(unsigned)FUSE_CAP_WRITEBACK_CACHE;
  connection->max_write = 1024 * 1024;
}

static void lookup(fuse_req_t request, fuse_ino_t parent, const char *name) {
  struct node *node = find(at(parent), name);
  if (!node) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  struct fuse_entry_param entry = entry_of(node);
  fuse_reply_entry(request, &entry);
}

static void getattr(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *file) {
  (void)file;
  fuse_reply_attr(request, &at(ino)->attributes, time_to_live);
}

static void setattr(fuse_req_t request, fuse_ino_t ino, struct stat *wanted, int which, struct fuse_file_info *file) {
  (void)file;
  if (which & FUSE_SET_ATTR_SIZE) resize(at(ino), (size_t)wanted->st_size);
  fuse_reply_attr(request, &at(ino)->attributes, time_to_live);
}

static void make_folder(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode) {
  struct fuse_entry_param entry = entry_of(add(at(parent), name, S_IFDIR | mode));
  fuse_reply_entry(request, &entry);
}

static void create(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *file) {
  struct fuse_entry_param entry = entry_of(add(at(parent), name, S_IFREG | mode));
  fuse_reply_create(request, &entry, file);
}

static void open_file(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *file) {
  if (file->flags & O_TRUNC) resize(at(ino), 0);
  fuse_reply_open(request, file);
}

static void read_file(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *file) {
  (void)file;
  struct node *node = at(ino);
  size_t end = (size_t)node->attributes.st_size;
  size_t from = (size_t)offset < end ? (size_t)offset : end;
  fuse_reply_buf(request, node->data + from, from + size < end ? size : end - from);
}

static void write_file(fuse_req_t request, fuse_ino_t ino, const char *data, size_t size, off_t offset,
                       struct fuse_file_info *file) {
  (void)file;
  struct node *node = at(ino);
  size_t end = (size_t)offset + size;
  if (end > (size_t)node->attributes.st_size) resize(node, end);
  memcpy(node->data + offset, data, size);
  clock_gettime(CLOCK_REALTIME, &node->attributes.st_mtim);
  fuse_reply_write(request, size);
}

static void done(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *file) {
  (void)ino;
  (void)file;
  fuse_reply_err(request, 0);
}

static void list(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, int with_attributes) {
  static char buffer[1 << 20];
  size_t filled = 0;
  struct node *child = offset ? ((struct node *)offset)->next_child : at(ino)->first_child;
  for (; child; child = child->next_child) {
    struct fuse_entry_param entry = entry_of(child);
    size_t length =
        with_attributes
            ? fuse_add_direntry_plus(request, buffer + filled, size - filled, child->name, &entry, (off_t)child)
            : fuse_add_direntry(request, buffer + filled, size - filled, child->name, &entry.attr, (off_t)child);
    if (length > size - filled) break;
    filled += length;
  }
  fuse_reply_buf(request, buffer, filled);
}

static void readdir(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *file) {
  (void)file;
  list(request, ino, size, offset, 0);
}

static void readdirplus(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *file) {
  (void)file;
  list(request, ino, size, offset, 1);
}

static const struct fuse_lowlevel_ops operations = {
    .init = init,
    .lookup = lookup,
    .getattr = getattr,
    .setattr = setattr,
    .mkdir = make_folder,
    .create = create,
    .open = open_file,
    .read = read_file,
    .write = write_file,
    .flush = done,
    .release = done,
    .readdir = readdir,
    .readdirplus = readdirplus,
};

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  char *words[] = {argv[0], "-o", "default_permissions,fsname=yardstick", NULL};
  struct fuse_args args = FUSE_ARGS_INIT(3, words);
  root = add(NULL, "", S_IFDIR | 0755);
  struct fuse_session *session = fuse_session_new(&args, &operations, sizeof operations, NULL);
  if (!session || fuse_set_signal_handlers(session) || fuse_session_mount(session, argv[1])) return 1;
  fuse_session_loop(session);
  fuse_session_unmount(session);
  fuse_session_destroy(session);
  return 0;
}
