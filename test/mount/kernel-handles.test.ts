// File handles (name_to_handle_at, open_by_handle_at), which NFS servers and backup programs keep longer than the kernel
// keeps a node. Only root may open by them, or make the kernel forget.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { whyNoFuse } from '../support/fuse.ts'
import { mountDrive, type MountedDrive } from '../support/mounted.ts'
import { python, whyNoPython } from '../support/python.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const why =
  whyNoFuse() ?? whyNoPython ?? (process.getuid?.() === 0 ? undefined : 'only root opens by file handles')

describe.skipIf(why !== undefined)(`file handles${why === undefined ? '' : ` (${why})`}`, () => {
  let temporary: TemporaryFolder
  let testService: TestService
  let drive: MountedDrive

  beforeAll(async () => {
    temporary = await makeTemporaryFolder()
    testService = await startTestService()
    await testService.other.put('/d/inner/a.txt', 'by its handle')
    drive = await mountDrive({ testService, driver: 'kernel', folder: temporary.path })
  })
  afterAll(async () => {
    await drive?.unmount()
    await testService?.close()
    await temporary?.remove()
  })

  test('open a document, and its folder, though the kernel forgot them', async () => {
    const said = await python(
      `
class Handle(ctypes.Structure):
    _fields_ = [('bytes', ctypes.c_uint), ('type', ctypes.c_int), ('data', ctypes.c_ubyte * 128)]
def handle_of(path):
    handle, mount = Handle(bytes=128), ctypes.c_int()
    print(call('name_to_handle_at', -100, path.encode(), ctypes.byref(handle), ctypes.byref(mount), 0))
    return handle
file, folder = handle_of(at + '/d/inner/a.txt'), handle_of(at + '/d/inner')
with open('/proc/sys/vm/drop_caches', 'w') as caches: caches.write('2')
top = os.open(at, os.O_RDONLY)
fd = call('open_by_handle_at', top, ctypes.byref(file), os.O_RDONLY)
print(os.read(fd, 100).decode() if isinstance(fd, int) else fd)
fd = call('open_by_handle_at', top, ctypes.byref(folder), os.O_RDONLY)
print(os.listdir(fd) if isinstance(fd, int) else fd)
`,
      drive.mountpoint,
    )
    expect(said).toEqual(['0', '0', 'by its handle', "['a.txt']"])
  })
})
