# Opens a document in a LibreOffice of its own, on a machine of its own (host name, profile), and tells in one line of JSON what it
# was asked and how the document is open. Closes it at the end of standard input.

import json, os, subprocess, sys, time
import uno, unohelper
from com.sun.star.beans import PropertyValue
from com.sun.star.task import XInteractionHandler2

host, folder, document = sys.argv[1:4]
approve = uno.getTypeByName('com.sun.star.task.XInteractionApprove')


class Person(unohelper.Base, XInteractionHandler2):
    """Answers each question as offered first: a document that is in use is opened read-only."""

    def __init__(self):
        self.asked = 0

    def handle(self, request):
        self.handleInteractionRequest(request)

    def handleInteractionRequest(self, request):
        self.asked += 1
        for answer in request.getContinuations():
            if answer.queryInterface(approve) is not None:
                answer.select()
                return True
        return False


pipe = f'docmount-{os.getpid()}'
office = subprocess.Popen(
    ['unshare', '--uts', 'sh', '-c', 'hostname "$1"; shift; exec soffice "$@"', 'sh', host,
     '--headless', '--norestore', '--nologo', '--nodefault', f'-env:UserInstallation=file://{folder}/{host}',
     f'--accept=pipe,name={pipe};urp;StarOffice.ComponentContext'],
    stdin=subprocess.DEVNULL, stdout=sys.stderr)
try:
    context = uno.getComponentContext()
    resolver = context.ServiceManager.createInstanceWithContext('com.sun.star.bridge.UnoUrlResolver', context)
    for _ in range(400):
        try:
            remote = resolver.resolve(f'uno:pipe,name={pipe};urp;StarOffice.ComponentContext')
            break
        except Exception:
            time.sleep(0.2)
    desktop = remote.ServiceManager.createInstanceWithContext('com.sun.star.frame.Desktop', remote)
    person = Person()
    handler = PropertyValue()
    handler.Name, handler.Value = 'InteractionHandler', person
    hidden = PropertyValue()
    hidden.Name, hidden.Value = 'Hidden', True
    opened = desktop.loadComponentFromURL(f'file://{document}', '_blank', 0, (handler, hidden))
    told = {'asked': person.asked, 'isReadOnly': None if opened is None else opened.isReadonly()}
    print(json.dumps(told), flush=True)
    sys.stdin.read()
    if opened is not None:
        opened.close(True)
    try:
        desktop.terminate()
    except Exception:
        pass
finally:
    office.wait(30)
