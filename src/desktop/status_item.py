"""The status item of one drive in the desktop's tray (StatusNotifierItem), and its menu (com.canonical.dbusmenu).

Each line of standard input is a JSON object with all that is shown (ItemView of src/cli/status-item-view.ts). Standard output
gets the id of each entry that the user chooses. Ends with standard input, so with the drive; and with the tray.
"""

import json
import os
import sys

from gi.repository import Gio, GLib

WATCHER = 'org.kde.StatusNotifierWatcher'
ITEM = 'org.kde.StatusNotifierItem'
ITEM_PATH = '/StatusNotifierItem'
MENU = 'com.canonical.dbusmenu'
MENU_PATH = '/StatusNotifierItem/Menu'
ICONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'icons')

INTERFACES = Gio.DBusNodeInfo.new_for_xml(f'''
<node>
  <interface name="{ITEM}">
    <property name="Category" type="s" access="read"/>
    <property name="Id" type="s" access="read"/>
    <property name="Title" type="s" access="read"/>
    <property name="Status" type="s" access="read"/>
    <property name="WindowId" type="i" access="read"/>
    <property name="IconThemePath" type="s" access="read"/>
    <property name="IconName" type="s" access="read"/>
    <property name="AttentionIconName" type="s" access="read"/>
    <property name="ToolTip" type="(sa(iiay)ss)" access="read"/>
    <property name="ItemIsMenu" type="b" access="read"/>
    <property name="Menu" type="o" access="read"/>
    <method name="Activate"><arg type="i" direction="in"/><arg type="i" direction="in"/></method>
    <method name="SecondaryActivate"><arg type="i" direction="in"/><arg type="i" direction="in"/></method>
    <method name="ContextMenu"><arg type="i" direction="in"/><arg type="i" direction="in"/></method>
    <method name="Scroll"><arg type="i" direction="in"/><arg type="s" direction="in"/></method>
    <signal name="NewTitle"/>
    <signal name="NewIcon"/>
    <signal name="NewAttentionIcon"/>
    <signal name="NewToolTip"/>
    <signal name="NewStatus"><arg type="s"/></signal>
  </interface>
  <interface name="{MENU}">
    <property name="Version" type="u" access="read"/>
    <property name="TextDirection" type="s" access="read"/>
    <property name="Status" type="s" access="read"/>
    <property name="IconThemePath" type="as" access="read"/>
    <method name="GetLayout">
      <arg type="i" direction="in"/><arg type="i" direction="in"/><arg type="as" direction="in"/>
      <arg type="u" direction="out"/><arg type="(ia{{sv}}av)" direction="out"/>
    </method>
    <method name="GetGroupProperties">
      <arg type="ai" direction="in"/><arg type="as" direction="in"/><arg type="a(ia{{sv}})" direction="out"/>
    </method>
    <method name="GetProperty">
      <arg type="i" direction="in"/><arg type="s" direction="in"/><arg type="v" direction="out"/>
    </method>
    <method name="Event">
      <arg type="i" direction="in"/><arg type="s" direction="in"/><arg type="v" direction="in"/><arg type="u" direction="in"/>
    </method>
    <method name="EventGroup"><arg type="a(isvu)" direction="in"/><arg type="ai" direction="out"/></method>
    <method name="AboutToShow"><arg type="i" direction="in"/><arg type="b" direction="out"/></method>
    <method name="AboutToShowGroup">
      <arg type="ai" direction="in"/><arg type="ai" direction="out"/><arg type="ai" direction="out"/>
    </method>
    <signal name="ItemsPropertiesUpdated"><arg type="a(ia{{sv}})"/><arg type="a(ias)"/></signal>
    <signal name="LayoutUpdated"><arg type="u"/><arg type="i"/></signal>
  </interface>
</node>''')


def choose(entry):
    print(entry, flush=True)


class Menu:
    """The entries below the root, which has number 0; entry N of the list has number N + 1."""

    def __init__(self, bus):
        self.bus = bus
        self.entries = []
        self.revision = 1
        bus.register_object(MENU_PATH, INTERFACES.lookup_interface(MENU), self.call, self.property, None)

    def show(self, entries):
        before, self.entries = self.entries, entries
        if [entry['id'] for entry in before] != [entry['id'] for entry in entries]:
            # An open menu is closed by a new layout, and not by other words.
            self.revision += 1
            self.emit('LayoutUpdated', '(ui)', (self.revision, 0))
            return
        changed = [
            (number, self.properties(number))
            for number, (old, new) in enumerate(zip(before, entries), 1) if old != new
        ]
        if changed:
            self.emit('ItemsPropertiesUpdated', '(a(ia{sv})a(ias))', (changed, []))

    def emit(self, signal, types, values):
        self.bus.emit_signal(None, MENU_PATH, MENU, signal, GLib.Variant(types, values))

    def properties(self, number):
        if number == 0:
            return {'children-display': GLib.Variant('s', 'submenu')}
        entry = self.entries[number - 1]
        if entry['label'] == '':
            return {'type': GLib.Variant('s', 'separator')}
        return {
            'label': GLib.Variant('s', entry['label'].replace('_', '__')),
            'enabled': GLib.Variant('b', entry['isEnabled']),
        }

    def numbers(self):
        return range(1, len(self.entries) + 1)

    def is_known(self, number):
        return number == 0 or number in self.numbers()

    def layout(self, number, depth):
        inner = [self.layout(each, 0) for each in self.numbers()] if number == 0 and depth != 0 else []
        return GLib.Variant('(ia{sv}av)', (number, self.properties(number), inner))

    def clicked(self, number, event):
        if event == 'clicked' and number in self.numbers() and self.entries[number - 1]['isEnabled']:
            choose(self.entries[number - 1]['id'])

    def call(self, bus, sender, path, interface, method, arguments, invocation):
        values = arguments.unpack()
        if method in ('GetLayout', 'GetProperty') and not self.is_known(values[0]):
            return invocation.return_dbus_error(f'{MENU}.Error', 'there is no such entry')
        if method == 'GetLayout':
            layout = self.layout(values[0], values[1])
            answer = GLib.Variant.new_tuple(GLib.Variant('u', self.revision), layout)
        elif method == 'GetGroupProperties':
            asked = [number for number in values[0] or [0, *self.numbers()] if self.is_known(number)]
            answer = GLib.Variant('(a(ia{sv}))', ([(number, self.properties(number)) for number in asked],))
        elif method == 'GetProperty':
            value = self.properties(values[0]).get(values[1])
            if value is None:
                return invocation.return_dbus_error(f'{MENU}.Error', 'there is no such property')
            answer = GLib.Variant('(v)', (value,))
        elif method == 'Event':
            self.clicked(values[0], values[1])
            answer = None
        elif method == 'EventGroup':
            for number, event, _data, _time in values[0]:
                self.clicked(number, event)
            answer = GLib.Variant('(ai)', ([number for number, *_ in values[0] if not self.is_known(number)],))
        elif method == 'AboutToShow':
            answer = GLib.Variant('(b)', (False,))
        else:
            answer = GLib.Variant('(aiai)', ([], []))
        invocation.return_value(answer)

    def property(self, bus, sender, path, interface, name):
        return {
            'Version': GLib.Variant('u', 3),
            'TextDirection': GLib.Variant('s', 'ltr'),
            'Status': GLib.Variant('s', 'normal'),
            'IconThemePath': GLib.Variant('as', []),
        }[name]


class Item:
    """The item. Registered with the tray by the first `show`."""

    def __init__(self, bus):
        self.bus = bus
        self.view = None
        self.menu = Menu(bus)

    def show(self, view):
        before, self.view = self.view, view
        self.menu.show(view['entries'])
        if before is None:
            self.bus.register_object(ITEM_PATH, INTERFACES.lookup_interface(ITEM), self.call, self.property, None)
            self.bus.call(
                WATCHER, '/StatusNotifierWatcher', WATCHER, 'RegisterStatusNotifierItem',
                GLib.Variant('(s)', (self.bus.get_unique_name(),)), None, Gio.DBusCallFlags.NO_AUTO_START, -1, None,
            )
            return
        if view['icon'] != before['icon']:
            self.emit('NewIcon')
            self.emit('NewAttentionIcon')
            self.emit('NewStatus', GLib.Variant('(s)', (self.status(),)))
        if (view['title'], view['text']) != (before['title'], before['text']):
            self.emit('NewToolTip')

    def emit(self, signal, values=None):
        self.bus.emit_signal(None, ITEM_PATH, ITEM, signal, values)

    def status(self):
        return 'NeedsAttention' if self.view['icon'] == 'refused' else 'Active'

    def call(self, bus, sender, path, interface, method, arguments, invocation):
        if method == 'Activate':
            choose('activate')
        invocation.return_value(None)

    def property(self, bus, sender, path, interface, name):
        icon = GLib.Variant('s', f"docmount-{self.view['icon']}")
        # Trays take the text for markup, and the title not.
        tooltip = ('', [], self.view['title'], GLib.markup_escape_text(self.view['text']))
        return {
            'Category': GLib.Variant('s', 'SystemServices'),
            'Id': GLib.Variant('s', self.view['name']),
            'Title': GLib.Variant('s', self.view['title']),
            'Status': GLib.Variant('s', self.status()),
            'WindowId': GLib.Variant('i', 0),
            'IconThemePath': GLib.Variant('s', ICONS),
            'IconName': icon,
            'AttentionIconName': icon,
            'ToolTip': GLib.Variant('(sa(iiay)ss)', tooltip),
            'ItemIsMenu': GLib.Variant('b', False),
            'Menu': GLib.Variant('o', MENU_PATH),
        }[name]


def main():
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    loop = GLib.MainLoop()
    item = Item(bus)
    rest = b''

    def read(_channel, _condition):
        nonlocal rest
        data = os.read(sys.stdin.fileno(), 65536)
        *lines, rest = (rest + data).split(b'\n')
        if lines:
            item.show(json.loads(lines[-1]))
        if not data:
            loop.quit()
        return data != b''

    GLib.io_add_watch(sys.stdin.fileno(), GLib.PRIORITY_DEFAULT, GLib.IO_IN | GLib.IO_HUP, read)
    Gio.bus_watch_name_on_connection(bus, WATCHER, Gio.BusNameWatcherFlags.NONE, None, lambda *_: loop.quit())
    loop.run()


main()
