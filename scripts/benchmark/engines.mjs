// Starts PostgreSQL and Ceph's gateway for a benchmark, and measures their processor time.

import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { childrenOf, costsOf } from './machine.mjs'

const engines = new URL('../engines', import.meta.url).pathname

/** Starts both in `folder`, unless they run there already. */
export async function startEngines(folder) {
  const [postgres, s3] = [join(folder, 'postgres'), join(folder, 's3')]
  mkdirSync(folder, { recursive: true })
  const start = (verb, where) => JSON.parse(execFileSync(engines, [verb, where], { encoding: 'utf8' }))
  const database = start('start', postgres)
  const bucket = start('start-s3', s3)
  const password = readFileSync(database.passfile, 'utf8').trim().split(':').at(-1)
  const askAt = async (url, text) => {
    const withPassword = Object.assign(new URL(url), { password })
    const client = new pg.Client({ connectionString: withPassword.href })
    await client.connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }
  const postmaster = Number(readFileSync(join(postgres, 'data/postmaster.pid'), 'utf8').split('\n')[0])
  return {
    env: { PGPASSFILE: database.passfile, AWS_SHARED_CREDENTIALS_FILE: bucket.credentials },
    freshDatabase: async () => {
      const name = `bench_${randomUUID().replaceAll('-', '')}`
      await askAt(database.url, `create database ${name}`)
      const url = new URL(database.url)
      url.pathname = name
      return { url: url.href, ask: (text) => askAt(url.href, text) }
    },
    freshBlobs: () => bucket.url.replace('?', `/${randomUUID()}?`),
    /** Processor seconds of PostgreSQL, with those of ended connections: a parent process gets the time of its ended children. */
    databaseSeconds: () =>
      costsOf([postmaster], { withEnded: true }).cpuSeconds + costsOf(childrenOf(postmaster)).cpuSeconds,
    gatewaySeconds: () => {
      const files = readdirSync(join(s3, 'run')).filter((name) => name.endsWith('.pid'))
      return costsOf(files.map((name) => Number(readFileSync(join(s3, 'run', name), 'utf8')))).cpuSeconds
    },
    stop: () => {
      execFileSync(engines, ['stop', postgres, 'fast'])
      execFileSync(engines, ['stop-s3', s3])
    },
  }
}
