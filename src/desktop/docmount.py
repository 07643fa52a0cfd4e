"""docmount in Nautilus, Nemo, Caja and Thunar: emblems, and a menu for documents on a drive.

The file manager never waits for a drive, and its folders are never touched: drives are found in the mount table, and states
come over each drive's control socket, on the main loop, whenever they come. A drive that hangs shows no emblems.
"""

import json
import os
import time
from collections import OrderedDict

import gi
from gi.repository import Gio, GLib, GObject

# `docmount desktop install` writes the absolute path here.
COMMAND = ['docmount']
LONGEST_SOCKET_PATH = 107
MOST_FOLDERS = 16
DRIVES_HOLD_SECONDS = 2
UNUSED_AFTER_SECONDS = 60

HOST = os.path.basename(os.readlink('/proc/self/exe')).lower()
if HOST.startswith('nemo'):
    from gi.repository import Nemo as Host
elif HOST.startswith('caja'):
    from gi.repository import Caja as Host
elif HOST.startswith('thunar'):
    from gi.repository import Thunarx as Host
else:
    from gi.repository import Nautilus as Host
IS_THUNAR = HOST.startswith('thunar')


# Drives

def runtime_folder():
    """The folder of mount records and sockets, as src/daemon/xdg.ts says."""
    runtime = os.environ.get('XDG_RUNTIME_DIR', '')
    if os.path.isabs(runtime):
        return os.path.join(runtime, 'docmount')
    if os.getuid() == 0:
        return '/run/docmount'
    state = os.environ.get('XDG_STATE_HOME', '')
    if not os.path.isabs(state):
        state = os.path.expanduser('~/.local/state')
    return os.path.join(state, 'docmount', 'run')


def mountpoints():
    """Mountpoints of docmount drives in the kernel's table: reading it touches none."""
    found = set()
    with open('/proc/self/mountinfo', 'rb') as table:
        for line in table:
            if b' - fuse.docmount ' not in line:
                continue
            escaped = line.split(b' ')[4]
            for character in (b' ', b'\t', b'\n', b'\\'):
                escaped = escaped.replace(b'\\%03o' % ord(character), character)
            found.add(os.fsdecode(escaped))
    return found


class Drives:
    """Control sockets of this user's drives by mountpoint."""

    def __init__(self):
        self.sockets = {}
        self.until = 0

    def of(self, path):
        """The mountpoint a path lies under, and the drive's socket; None elsewhere."""
        if time.monotonic() > self.until:
            self.sockets = self.read()
            self.until = time.monotonic() + DRIVES_HOLD_SECONDS
        at = path
        while True:
            if at in self.sockets:
                return at, self.sockets[at]
            if at in ('/', ''):
                return None
            at = os.path.dirname(at)

    @staticmethod
    def read():
        mounted = mountpoints()
        sockets = {}
        try:
            records = [entry.path for entry in os.scandir(runtime_folder()) if entry.name.endswith('.json')]
        except OSError:
            return sockets
        for file in records:
            try:
                with open(file, encoding='utf-8') as text:
                    record = json.load(text)
                if record['mountpoint'] in mounted:
                    sockets[record['mountpoint']] = record['socketPath']
            except (OSError, ValueError, KeyError, TypeError):
                continue
        return sockets


DRIVES = Drives()


# States

def emblems(status):
    """Emblems of a name, by its state as the drive tells it."""
    if status is None:
        return []
    state = status.get('state')
    shown = [state] if state in ('sending', 'waiting', 'refused', 'conflict') else []
    return shown + (['pinned'] if status.get('here') == 'pinned' else [])


class Folder:
    """The states of one folder's names, which its drive tells, and tells again when they change."""

    def __init__(self, path, inside, socket_path):
        self.path = path
        self.states = {}
        self.asked = set()
        self.is_over = False
        self.cancellable = Gio.Cancellable()
        self.request = json.dumps({'command': 'folder', 'input': {'path': inside, 'watch': True}}) + '\n'
        self.descriptor = None
        if len(os.fsencode(socket_path)) > LONGEST_SOCKET_PATH:
            self.descriptor = os.open(os.path.dirname(socket_path), os.O_RDONLY | os.O_DIRECTORY)
            socket_path = f'/proc/self/fd/{self.descriptor}/{os.path.basename(socket_path)}'
        address = Gio.UnixSocketAddress.new(socket_path)
        Gio.SocketClient().connect_async(address, self.cancellable, self.connected)

    def connected(self, client, result):
        if self.descriptor is not None:
            os.close(self.descriptor)
        try:
            self.connection = client.connect_finish(result)
        except GLib.Error:
            return self.end()
        self.lines = Gio.DataInputStream.new(self.connection.get_input_stream())
        request = GLib.Bytes.new(self.request.encode())
        self.connection.get_output_stream().write_bytes_async(request, 0, self.cancellable, self.written)

    def written(self, stream, result):
        try:
            stream.write_bytes_finish(result)
        except GLib.Error:
            return self.end()
        self.read()

    def read(self):
        self.lines.read_line_async(0, self.cancellable, self.told)

    def told(self, lines, result):
        try:
            line = lines.read_line_finish_utf8(result)[0]
            change = json.loads(line or '{}').get('progress')
        except (GLib.Error, ValueError):
            change = None
        if change is None:
            return self.end()
        fresh = {status['name']: status for status in change['names']}
        self.replace({**{name: None for name in change['gone']}, **fresh})
        self.read()

    def replace(self, statuses):
        """Takes over these statuses (None: none any more), and has files drawn anew whose emblems they change."""
        for name, status in statuses.items():
            before = emblems(self.states.get(name))
            if status is None:
                self.states.pop(name, None)
            else:
                self.states[name] = status
            if name in self.asked and emblems(status) != before:
                file = self.shown(name)
                if file is not None:
                    file.invalidate_extension_info()

    def shown(self, name):
        """The file manager's own object of a name, if it has one: looking makes none."""
        return Host.FileInfo.lookup(Gio.File.new_for_path(os.path.join(self.path, name)))

    @property
    def is_used(self):
        return any(self.shown(name) is not None for name in self.asked)

    def stop(self):
        """Hears nothing more. What is shown stays: drawing it anew would ask for the folder again."""
        self.is_over = True
        self.cancellable.cancel()

    def end(self):
        """The drive is gone: nothing is known of its names any more."""
        if self.is_over:
            return
        self.stop()
        self.replace({name: None for name in list(self.states)})


class Folders:
    """Folders that are watched: those asked for last."""

    def __init__(self):
        self.folders = OrderedDict()

    def status(self, path):
        """What is known of a path on a drive, or None; from now on its folder is watched."""
        above, name = os.path.split(path)
        drive = DRIVES.of(above)
        if drive is None:
            return None
        folder = self.folders.pop(above, None)
        if folder is None or folder.is_over:
            mountpoint, socket_path = drive
            try:
                folder = Folder(above, above[len(mountpoint):] or '/', socket_path)
            except (OSError, ValueError):
                return None
            if not self.folders:
                GLib.timeout_add_seconds(UNUSED_AFTER_SECONDS, self.sweep)
        folder.asked.add(name)
        self.folders[above] = folder
        while len(self.folders) > MOST_FOLDERS:
            self.folders.popitem(last=False)[1].stop()
        return folder.states.get(name)

    def known(self, path):
        """What is known of a path; watches nothing."""
        above, name = os.path.split(path)
        folder = self.folders.get(above)
        return None if folder is None else folder.states.get(name)

    def sweep(self):
        for path, folder in list(self.folders.items()):
            if folder.is_over or not folder.is_used:
                self.folders.pop(path).stop()
        return bool(self.folders)


FOLDERS = Folders()


# Menu

def is_any(test):
    return lambda statuses: any(status is None or test(status) for status in statuses)


# By the action of `docmount desktop run`: label, and if it is shown for these statuses (None: not known).
ENTRIES = {
    'keep': ('Keep on this computer', is_any(lambda status: not status['isPinned'])),
    'free': ('Free up space', is_any(lambda status: status['isPinned'] or status['here'] != 'no')),
    'send': ('Send now', is_any(lambda status: status['state'] in ('waiting', 'sending', 'refused'))),
    'status': ('Show status', lambda statuses: True),
    'versions': ('Restore previous version…', lambda statuses: len(statuses) == 1),
    'link': (
        'Copy link',
        lambda statuses: all(s is None or (s['kind'] == 'file' and s['state'] == 'stored') for s in statuses),
    ),
}


def paths_of(files):
    """Paths of files that all lie on drives; otherwise none."""
    paths = []
    for file in files:
        path = file.get_location().get_path() if file.get_uri_scheme() == 'file' else None
        if path is None or DRIVES.of(path) is None:
            return []
        paths.append(path)
    return paths


def entries_for(files):
    """Actions with their labels that fit these files, and the files' paths."""
    paths = paths_of(files)
    if not paths:
        return [], paths
    statuses = [FOLDERS.known(path) for path in paths]
    return [(action, label) for action, (label, fits) in ENTRIES.items() if fits(statuses)], paths


def run(action, paths):
    """Runs an action, which tells by a notification what it did."""
    copy = clipboard() if action == 'link' else None
    arguments = [*COMMAND, 'desktop', 'run', action]
    if action == 'link' and copy is None:
        arguments.append('--clipboard')
    launcher = Gio.SubprocessLauncher.new(Gio.SubprocessFlags.STDIN_PIPE | Gio.SubprocessFlags.STDOUT_PIPE)
    launcher.set_cwd('/')

    def ended(process, result):
        try:
            output = process.communicate_finish(result)[1].get_data()
        except GLib.Error:
            return
        if copy is not None and output:
            copy(output.decode().rstrip('\n'))

    try:
        process = launcher.spawnv(arguments)
        process.communicate_async(GLib.Bytes.new(os.fsencode('\0'.join(paths))), None, ended)
    except GLib.Error as error:
        print(f'docmount: {error.message}')


def clipboard():
    """Puts a text into the clipboard, by the toolkit that this process has; None where its bindings are missing."""
    version = '4.0' if getattr(Host, '_version', '') == '4.0' else '3.0'
    try:
        gi.require_version('Gdk', version)
        from gi.repository import Gdk

        if version == '4.0':
            own = Gdk.Display.get_default().get_clipboard()
            return lambda text: own.set_content(Gdk.ContentProvider.new_for_value(text))
        gi.require_version('Gtk', version)
        from gi.repository import Gtk

        return lambda text: Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD).set_text(text, -1)
    except (ImportError, ValueError):
        return None


def menu_for(files, kind='files'):
    """The menu. `kind`: items of a folder's own menu and of the selection's have different names, or one would do the other's."""
    entries, paths = entries_for(files)
    if not entries:
        return []
    top = Host.MenuItem(name=f'Docmount::{kind}', label='Document drive', **TIPS)
    submenu = Host.Menu()
    top.set_menu(submenu) if IS_THUNAR else top.set_submenu(submenu)
    for action, label in entries:
        item = Host.MenuItem(name=f'Docmount::{kind}::{action}', label=label, **TIPS)
        item.connect('activate', lambda _item, chosen=action: run(chosen, paths))
        submenu.append_item(item)
    return [top]


if IS_THUNAR:
    TIPS = {'tooltip': '', 'icon': ''}

    class DocmountExtension(GObject.GObject, Host.MenuProvider):
        def get_file_menu_items(self, window, files):
            return menu_for(files)

        def get_folder_menu_items(self, window, folder):
            return menu_for([folder], 'folder')

else:
    TIPS = {}

    class DocmountExtension(GObject.GObject, Host.InfoProvider, Host.MenuProvider):
        def update_file_info(self, file):
            path = file.get_location().get_path() if file.get_uri_scheme() == 'file' else None
            for emblem in emblems(FOLDERS.status(path)) if path else []:
                file.add_emblem(f'docmount-{emblem}')

        # Nautilus 43 and newer hands over no window.
        def get_file_items(self, *window_and_files):
            return menu_for(window_and_files[-1])

        def get_background_items(self, *window_and_folder):
            return menu_for([window_and_folder[-1]], 'folder')
