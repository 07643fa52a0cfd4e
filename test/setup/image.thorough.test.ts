// The OCI image as `scripts/host/image` makes it, run as its own configuration says, without a container engine: its layers are
// a folder to change root to, with processes and a network of their own.

import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cloneTo } from '../support/clone.ts'
import { ownMounts } from '../support/own-mounts.ts'
import { bash, isInstalled, run } from '../support/run.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const limitMs = 1_800_000

interface Image {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Volumes: object
  readonly ExposedPorts: object
  readonly StopSignal: string
}

describe.runIf(process.getuid?.() === 0)('the image', () => {
  let folder: TemporaryFolder
  let image: Image
  const whyNot = ['mmdebstrap', 'buildah', 'unshare', 'ip'].find((name) => !isInstalled(name))
  const at = (name: string): string => join(folder.path, name)

  beforeAll(async () => {
    folder = await makeTemporaryFolder()
    if (whyNot !== undefined) return
    await cloneTo(at('clone'))
    await run(at('clone/scripts/host/image'), [at('image.tar')], { limitMs })
    await mkdir(at('oci'))
    await mkdir(at('root'))
    await bash('tar -xf "$1/image.tar" -C "$1/oci"', [folder.path])
    const part = async <Part>(digest: string): Promise<Part> =>
      JSON.parse(await readFile(blobOf(digest), 'utf8')) as Part
    const blobOf = (digest: string): string => join(at('oci'), 'blobs', ...digest.split(':'))
    const index = JSON.parse(await readFile(join(at('oci'), 'index.json'), 'utf8')) as {
      manifests: [{ digest: string }]
    }
    const manifest = await part<{ config: { digest: string }; layers: { digest: string }[] }>(
      index.manifests[0].digest,
    )
    image = (await part<{ config: Image }>(manifest.config.digest)).config
    for (const { digest } of manifest.layers)
      await bash('tar -xf "$1" -C "$2"', [blobOf(digest), at('root')], { limitMs })
  }, limitMs)
  afterAll(() => folder.remove())

  /**
   * The output of `line`, run beside the service: behind `"${inside[@]}"` a command runs as the image's user, with
   * its variables.
   */
  async function besideService(line: string): Promise<string> {
    const words = (list: readonly string[]): string => list.map((word) => `'${word}'`).join(' ')
    const script = `${ownMounts}
      ip link set lo up
      cd "$1"
      mount -t proc proc proc
      mount --rbind /dev dev
      inside=(chroot --userspec='${image.User}:${image.User}' . env -i ${words(image.Env)} HOME=/data)
      "\${inside[@]}" ${words(image.Entrypoint)} --project acme >&2 &
      service=$!
      for _ in $(seq 300); do
        "\${inside[@]}" node -e 'fetch("http://127.0.0.1:8080/api/health").then(() => process.exit(0), () => process.exit(1))' && break
        sleep 0.2
      done
      ${line}
      kill -TERM $service
      wait $service`
    const args = ['unshare', '--net', '--mount', '--pid', '--fork', 'bash', '-euo', 'pipefail', '-c', script]
    return (await bash('"$@"', [...args, 'bash', at('root')], { limitMs })).stdout
  }

  test('says who runs it, where its documents are and how it is stopped', (context) => {
    if (whyNot !== undefined) return context.skip(`there is no ${whyNot}`)
    expect(image).toMatchObject({
      User: 'docmount',
      Entrypoint: ['docmount', 'serve'],
      Volumes: { '/data': {} },
      ExposedPorts: { '8080/tcp': {} },
      StopSignal: 'SIGTERM',
    })
  })

  test(
    'is well and ready, takes a key that is made inside, and ends when it is told to',
    async (context) => {
      if (whyNot !== undefined) return context.skip(`there is no ${whyNot}`)
      const said = await besideService(`
        key=$("\${inside[@]}" docmount keys create acme --data /data)
        printf %s "$key" | "\${inside[@]}" node -e '
          const key = require("node:fs").readFileSync(0, "utf8")
          const get = async (path) => {
            const answer = await fetch("http://127.0.0.1:8080/api" + path, { headers: { "x-api-key": key } })
            console.log(answer.status, await answer.text())
          }
          get("/health").then(() => get("/ready")).then(() => get("/projects"))'
        chroot . stat -c '%U %a' /data /data/service.db`)
      const lines = said.split('\n')
      expect(lines.slice(0, 2)).toEqual(['200 {"status":"ok"}', '200 {"status":"ready"}'])
      expect(lines[2]).toMatch(/^200 .*"name":"acme"/)
      expect(lines.slice(3, 5)).toEqual(['docmount 700', 'docmount 600'])
    },
    limitMs,
  )
})
