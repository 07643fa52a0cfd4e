// The service's TLS certificate, reloaded when its files change. If they cannot be read, the old certificate stays in use.

import { X509Certificate, createPrivateKey } from 'node:crypto'
import { readFileSync, statSync, unwatchFile, watchFile } from 'node:fs'
import { isIP } from 'node:net'
import { type SecureContextOptions, type Server, createSecureContext } from 'node:tls'
import type { Log } from '../../log.ts'
import { checkOrdinary } from '../../ordinary-file.ts'
import { StartError } from '../start-error.ts'

export interface TlsFiles {
  /** PEM file with the certificate, followed by the intermediate ones. */
  readonly cert: string
  readonly key: string
}

interface Pem extends SecureContextOptions {
  readonly cert: Buffer
  readonly key: Buffer
}

/** Interval at which the files are polled: renewals replace a symbolic link, of which no notification comes. */
const pollMs = 5_000

export class Certificate {
  readonly #files: TlsFiles
  #options: Pem
  #certificate: X509Certificate

  /** Throws a StartError when the files are not a certificate and its key. */
  constructor(files: TlsFiles) {
    this.#files = files
    try {
      ;[this.#options, this.#certificate] = read(files)
    } catch (error) {
      throw new StartError(
        `${files.cert} and ${files.key} are no certificate and its key: ${reasonOf(error)}`,
        {
          cause: error,
        },
      )
    }
  }

  get options(): SecureContextOptions {
    return this.#options
  }

  get file(): string {
    return this.#files.cert
  }

  /** Time of its expiry, in epoch milliseconds. */
  get validUntil(): number {
    return Date.parse(this.#certificate.validTo)
  }

  /** True when the certificate is valid for this host name or IP address. */
  isFor(host: string): boolean {
    const found = isIP(host) === 0 ? this.#certificate.checkHost(host) : this.#certificate.checkIP(host)
    return found !== undefined
  }

  /** Reads the files, and uses them for new connections. */
  reload(server: Server, log: Log): void {
    try {
      const [options, certificate] = read(this.#files)
      // The PEM texts are compared, for intermediate certificates may have changed.
      if (options.cert.equals(this.#options.cert) && options.key.equals(this.#options.key)) return
      server.setSecureContext(options)
      this.#options = options
      this.#certificate = certificate
      log.info({ validTo: certificate.validTo }, 'the certificate was read again')
    } catch (error) {
      log.error({ error }, 'the certificate could not be read again; the old one stays in use')
    }
  }

  /** Reloads when a file changes. Returns the function that stops watching. */
  watch(server: Server, log: Log): () => void {
    const files = [this.#files.cert, this.#files.key]
    const reload = (): void => this.reload(server, log)
    for (const file of files) watchFile(file, { interval: pollMs, persistent: false }, reload)
    return () => files.forEach((file) => unwatchFile(file, reload))
  }
}

function read(files: TlsFiles): [Pem, X509Certificate] {
  const options = { cert: readPem(files.cert), key: readPem(files.key) }
  // Throws where the two do not belong together.
  createSecureContext(options)
  const certificate = new X509Certificate(options.cert)
  // A key of another kind (RSA, elliptic curves) passes the check above, and then every handshake fails.
  if (!certificate.checkPrivateKey(createPrivateKey(options.key)))
    throw new Error('the key is not the one of the certificate')
  return [options, certificate]
}

/** Throws an error that names the file. */
function readPem(file: string): Buffer {
  checkOrdinary(statSync(file), file)
  return readFileSync(file)
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
