// Tables in the drive, as programs that know only files use them: coreutils, a shell, an editor that saves by rename.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { xlsxOfLines } from '../rows/xlsx-file.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { mountDrive, type MountedDrive } from '../support/mounted.ts'
import { bash, isInstalled, type Ran } from '../support/run.ts'
import { project, startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { mountDrivers } from '../support/thorough.ts'

let temporary: TemporaryFolder
let testService: TestService
let drive: MountedDrive | undefined

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  testService = await startTestService()
})

afterEach(async () => {
  try {
    await drive?.unmount()
  } finally {
    drive = undefined
    await testService.close()
    await temporary.remove()
  }
})

async function mount(driver: string, ...args: readonly string[]): Promise<MountedDrive> {
  drive = await mountDrive({ testService, driver, folder: temporary.path, args: ['--tables', ...args] })
  return drive
}

/** Runs a line of bash with `$M` the drive, `$T` the folder of the table `ledger` and `$D` a folder of this machine. */
function shell(line: string): Promise<Ran> {
  const [mountpoint, desk] = [drive?.mountpoint ?? '', temporary.path]
  const script = `M=$1 D=$2 T="$1/.tables/ledger"; cd "$D"; ${line}`
  return bash('timeout 200 bash -euo pipefail -c "$1" bash "$2" "$3"', [script, mountpoint, desk], {
    mayFail: true,
  })
}

async function docmount(...args: readonly string[]): Promise<string> {
  if (drive === undefined) throw new Error('not mounted')
  const service = ['--project', project, '--base-url', testService.baseUrl]
  return (await drive.docmount([...args, ...service])).stdout
}

async function makeTable(name = 'ledger'): Promise<void> {
  await docmount('tables', 'create', name, '--type', 'reconcile')
}

/** The price the table knows for each of these. */
async function pricesOf(...skus: readonly string[]): Promise<unknown> {
  const file = join(temporary.path, 'prices.json')
  await writeFile(file, JSON.stringify({ sku: skus, price: skus.map(() => null) }))
  const { data } = JSON.parse(await docmount('reconcile', 'ledger', '--data', file, '--json')) as {
    data: { price: unknown }
  }
  return data.price
}

const rows = 'sku,price\nA-1,10\nA-2,20\n'

describe.skipIf(whyNoFuse() !== undefined).each(mountDrivers)('tables in a drive of %s', (driver) => {
  test('are seen with ls and cat, as the command line shows them', async () => {
    await mount(driver)
    await makeTable()
    expect((await shell('ls -A "$M"; ls "$M/.tables"; ls -l "$T" | wc -l')).stdout).toBe(
      '.tables\nledger\n5\n',
    )
    const { stdout } = await shell('cat "$T/table.json"')
    expect([JSON.parse(stdout)]).toEqual(JSON.parse(await docmount('tables', 'ls', '--json')))
    expect((await shell('cat "$T/schema.json"')).stdout).toBe(
      await docmount('tables', 'schema', 'ledger', '--json'),
    )
  })

  test('take a file by cp: the result is there when cp returns', async () => {
    await mount(driver)
    await makeTable()
    await writeFile(join(temporary.path, 'rows.csv'), rows)
    const { stdout, stderr } = await shell('cp rows.csv "$T/forward/"; cat "$T/forward/rows.csv.result.json"')
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toMatchObject({ assets_created: 2, message: '2 assets created in ledger' })
    expect(await pricesOf('A-1', 'A-2')).toEqual(['10', '20'])
    expect(await docmount('tables', 'schema', 'ledger')).toMatch(/sku\s+string\nprice\s+string/)
  })

  test('take a workbook, and answer a question', async () => {
    await mount(driver)
    await makeTable()
    const workbook = xlsxOfLines([
      ['sku', 'price'],
      ['A-1', 10],
    ])
    await writeFile(join(temporary.path, 'rows.xlsx'), workbook)
    await writeFile(join(temporary.path, 'ask.json'), '{"sku":"a 1","price":null}')
    const { stdout } = await shell(
      'cp rows.xlsx "$T/forward/"; cp ask.json "$T/reconcile/"; cat "$T/reconcile/ask.json.result.json"',
    )
    expect(JSON.parse(stdout)).toMatchObject({ status: 'done', data: { sku: 'A-1', price: 10 } })
  })

  test('take a file by mv, from elsewhere and from a temporary name', async () => {
    await mount(driver)
    await makeTable()
    await writeFile(join(temporary.path, 'one.csv'), 'sku,price\nA-1,10\n')
    await writeFile(join(temporary.path, 'two.csv'), 'sku,price\nA-2,20\n')
    const { stdout, stderr } = await shell(
      'mv one.csv "$T/forward/"; cp two.csv "$T/forward/two.csv.part"; ls "$T/forward"; mv "$T/forward/two.csv.part" "$T/forward/two.csv"; ls "$T/forward"',
    )
    expect(stderr).toBe('')
    expect(stdout.trim().split('\n')).toEqual([
      'one.csv',
      'one.csv.result.json',
      'two.csv.part',
      'one.csv',
      'one.csv.result.json',
      'two.csv',
      'two.csv.result.json',
    ])
    expect(await pricesOf('A-1', 'A-2')).toEqual(['10', '20'])
  })

  test('take what an editor saves by rename, and what a shell writes in pieces, once', async () => {
    await mount(driver)
    await makeTable()
    const { stderr, code } = await shell(`
      printf 'sku,price\\nA-1,10\\n' > "$T/forward/a.csv"
      sed -i s/A-1,10/A-1,11/ "$T/forward/a.csv"
      { echo sku,price; echo B-1,1 | cat; (echo B-2,2); cat <(echo B-3,3); } > "$T/forward/b.csv"
      echo B-4,4 >> "$T/forward/b.csv"`)
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(await pricesOf('A-1', 'A-1')).toEqual(['10', '11'])
    expect(await pricesOf('B-1', 'B-2', 'B-3', 'B-4', 'B-1', 'B-4')).toEqual(['1', '2', '3', '4', null, null])
    const { stdout } = await shell('cat "$T/forward/b.csv.result.json"')
    expect(JSON.parse(stdout)).toMatchObject({ assets_created: 4 })
  })

  test('refuse a bad file where the program sees it, and say why beside it', async () => {
    await mount(driver)
    await makeTable()
    await writeFile(join(temporary.path, 'bad.json'), '[{"sku":')
    const refused = await shell('cp bad.json "$T/forward/"')
    expect(refused.stderr).toMatch(/bad\.json.*Invalid argument/)
    expect(refused.code).toBe(1)
    expect((await shell('cat "$T/forward/bad.json.result.json"')).stdout).toBe(
      '{\n  "errorMessage": "not JSON"\n}\n',
    )
    expect((await shell('rm "$T/forward/"*; ls "$T/forward"; mkdir "$T/x"')).stderr).toMatch(/not permitted/)
  })

  test.skipIf(!isInstalled('vim'))('take what vim writes, whatever it does for it', async () => {
    await mount(driver)
    await makeTable()
    await shell(`printf 'sku,price\\nA-1,10\\n' > "$T/forward/a.csv"`)
    const { code } = await shell(
      `vim -es -u NONE -c '%s/A-1,10/V-1,12/' -c wq "$T/forward/a.csv" < /dev/null`,
    )
    expect(code).toBe(0)
    expect(await pricesOf('V-1', 'V-1')).toEqual(['12', null])
  })

  test('are read and not filled when the drive is read-only', async () => {
    await mount(driver, '--read-only')
    await makeTable()
    expect((await shell('cat "$T/table.json"')).stdout).toContain('"name": "ledger"')
    expect((await shell('echo a > "$T/forward/a.csv"')).stderr).toMatch(/Read-only file system/)
  })

  test("give way to the project's own folder .tables, and the log says so", async () => {
    await testService.other.put('/.tables/own.txt', 'mine')
    const mounted = await mount(driver)
    await makeTable()
    expect((await shell('ls "$M/.tables"; cat "$M/.tables/own.txt"')).stdout).toBe('own.txt\nmine')
    expect(mounted.log().match(/its tables are not shown/g)).toHaveLength(1)
  })
})

test.skipIf(whyNoFuse() !== undefined)('a drive without --tables shows none', async () => {
  drive = await mountDrive({ testService, driver: 'kernel', folder: temporary.path })
  await makeTable()
  expect((await shell('ls -A "$M"; ls "$M/.tables"')).stderr).toMatch(/No such file/)
})
