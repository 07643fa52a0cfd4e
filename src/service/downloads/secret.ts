// The secret that signs presigned links: made once, stored beside the database, readable by the owner only.

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { writeWhole } from '../../write-whole.ts'
import { isMissing } from '../blobs/disk.ts'
import { StartError } from '../start-error.ts'
import type { LinkSecrets } from './signer.ts'

const secretBytes = 32

/** Reads the secret in `file`, created if missing. Throws a StartError if it is damaged. */
export async function loadSecret(file: string): Promise<LinkSecrets> {
  const secret = await readOrMake(file)
  return { current: secret, known: [secret] }
}

async function readOrMake(file: string): Promise<Buffer> {
  try {
    const secret = await readFile(file)
    if (secret.byteLength !== secretBytes)
      throw new StartError(`${file} is damaged: remove it, and old download links end`)
    return secret
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const secret = randomBytes(secretBytes)
  await writeWhole(file, secret)
  return secret
}
