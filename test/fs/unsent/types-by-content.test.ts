// A document whose name tells no type is stored as what its content is, wherever in it that is told.

import { expect, it } from 'vitest'

import { openHeld } from '../../support/open-held.ts'
import { untypedFiles } from '../../support/untyped-files.ts'

it('the content of a name without an extension decides what it is stored as', async () => {
  await using drive = await openHeld({}, { closeWaitMs: Infinity })
  const { other } = drive.testService
  for (const { name, bytes, mimetype } of untypedFiles) {
    const saved = drive.calls().writeFile(`/${name}`, bytes)
    if (mimetype === undefined) {
      await expect(saved, name).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
      expect(await other.get(`/${name}`), name).toBeUndefined()
    } else {
      await saved
      await expect.poll(() => other.get(`/${name}`), { message: name }).toMatchObject({ mimetype })
      expect((await other.bytes(`/${name}`)).equals(bytes), name).toBe(true)
    }
  }
})
