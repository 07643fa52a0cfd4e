// A drive served on by Samba, to Windows and to Macs.

import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { whyNoFuse } from '../support/fuse.ts'
import { mountDrive, type MountedDrive } from '../support/mounted.ts'
import { oleFile, officeZip, workbookTypes } from '../support/office-files.ts'
import { startSamba, whyNoSamba, type Samba } from '../support/samba.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { leaveOut, mountDrivers } from '../support/thorough.ts'

const why = whyNoFuse() ?? whyNoSamba()
leaveOut('Samba over a mount through fuse-native')

const shares = { plain: [], mac: ['vfs objects = catia fruit streams_xattr'] }

describe.skipIf(why !== undefined).each(mountDrivers)(
  `a drive that Samba serves, through %s${why === undefined ? '' : ` (${why})`}`,
  (driver) => {
    let temporary: TemporaryFolder
    let testService: TestService
    let drive: MountedDrive
    let samba: Samba

    beforeAll(async () => {
      temporary = await makeTemporaryFolder()
      await chmod(temporary.path, 0o755)
      testService = await startTestService()
      drive = await mountDrive({ testService, driver, folder: temporary.path })
      samba = await startSamba(temporary.path, drive.mountpoint, shares)
    })
    afterAll(async () => {
      await samba?.stop()
      await drive?.unmount()
      await testService?.close()
      await temporary?.remove()
    })

    const stored = async (): Promise<string[]> => {
      await drive.docmount(['wait', drive.mountpoint])
      return [...((await testService.other.documents('/')) ?? new Map<string, Buffer>()).keys()].toSorted()
    }

    describe.each(Object.keys(shares))('on the share %s', (share) => {
      it('documents are put, fetched, renamed and deleted, folders made and removed', async () => {
        const { path } = temporary
        await writeFile(join(path, 'a.pdf'), '%PDF-1.7 of Samba\n')
        await samba.client(share, [
          `lcd ${path}`,
          'mkdir made',
          'cd made',
          'put a.pdf first.pdf',
          'put a.pdf second.pdf',
          'rename first.pdf third.pdf',
          'del second.pdf',
          'mkdir empty',
          'rmdir empty',
          `get third.pdf ${share}.pdf`,
        ])
        expect(await readFile(join(path, `${share}.pdf`), 'utf8')).toBe('%PDF-1.7 of Samba\n')
        expect(await stored()).toEqual(['made/third.pdf'])
        await samba.client(share, ['del made\\third.pdf', 'rmdir made'])
        expect(await stored()).toEqual([])
      })

      it.each([
        ['report.xlsx', officeZip(workbookTypes, { before: 100_000 })],
        ['report.xls', oleFile({ Workbook: '' }, { sectorsBefore: 200 })],
      ])('Excel saves %s: a name of eight digits, renamed over the document', async (name, bytes) => {
        await testService.other.put(`/${name}`, 'what was there')
        await drive.docmount(['refresh', drive.mountpoint])
        await writeFile(join(temporary.path, 'saved'), bytes)
        await samba.client(share, [
          `lcd ${temporary.path}`,
          // As Excel does: what nobody here had read would be kept beside it.
          `get ${name} opened`,
          'put saved 2A2B3C00',
          `rename 2A2B3C00 ${name} -f`,
        ])
        expect(await stored()).toEqual([name])
        expect((await testService.other.bytes(`/${name}`)).equals(bytes)).toBe(true)
        await samba.client(share, [`del ${name}`])
        expect(await stored()).toEqual([])
      })
    })
  },
)
