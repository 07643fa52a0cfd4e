// `unit` and `unit-sharing` need no kernel; `postgres` runs what holds for both stores once more, on the other one; `mount` goes
// through a real kernel mount, with docmount in a child process. Files of all projects run beside one another, each with folders, services
// and mounts of its own: what computes uses the processor while what is mounted waits.
import { defineConfig } from 'vitest/config'
import { makeBuilds } from './support/builds.ts'
import { isThorough } from './support/is-thorough.ts'
import { threads } from './support/threads.ts'
import { Riffled } from './support/riffled.ts'

const mountTests = ['test/mount/**/*.test.ts', 'test/behaviour/mount*.test.ts', 'test/crash/**/*.test.ts']

/** Random work under random trouble: half a minute here, for as long as you like by `scripts/soak`. */
const modelTests = ['test/model/**/*.test.ts']
const isSoak = process.env['DOCMOUNT_SOAK_MINUTES'] !== undefined

/** Files that only `scripts/test --all` runs: its summary names each of them by the first sentence of its header. */
const leftOut = isThorough || isSoak ? [] : ['test/**/*.thorough.test.ts']

/** Promises of the service whatever keeps its store: run on PostgreSQL once more, by `scripts/test --all`. */
const onBothStores = [
  'test/service/postgres/*.test.ts',
  'test/contract/*.test.ts',
  'test/service/{answers,downloads,files,keys,projects,reconcile,tables,tables-client,tables-durable,uploads}.test.ts',
  'test/service/{faults,hosting,limits,links,openapi-refusals,refused-requests,room}.test.ts',
]

/**
 * Files that leave nothing behind in the process they ran in run one after another in the same few processes: what they import is
 * loaded once in each, which is two fifths of their processor time.
 */
const sharingProcesses = 'test/{api,cli,content,daemon,fs,fuse,rows,tables-drive,ui,webdav}/**/*.test.ts'

/** Six lanes on two cores: a drive, its service and the program that uses it mostly wait for one another. Vitest wants one number for all. */
const maxWorkers = 6

/**
 * Limits end what hangs, and measure nothing: awaited states come at once, mostly, and a busy machine may take a hundred times as
 * long. A test's own limit is longer than that of a wait in it.
 */
const patient = { poll: { timeout: 100_000 } }
const limits = { testTimeout: 300_000, hookTimeout: 300_000 }

makeBuilds()

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    sequence: { sequencer: Riffled },
    // Tests of one file that run beside each other wait for other things than the processor.
    maxConcurrency: 8,
    projects: [
      {
        plugins: [threads()],
        test: {
          name: 'unit',
          expect: patient,
          include: ['test/**/*.test.ts'],
          exclude: [
            ...mountTests,
            ...modelTests,
            'test/service/postgres/*.test.ts',
            sharingProcesses,
            ...leftOut,
          ],
          maxWorkers,
          ...limits,
        },
      },
      {
        plugins: [threads()],
        test: {
          name: 'unit-sharing',
          expect: patient,
          include: [sharingProcesses],
          exclude: leftOut,
          isolate: false,
          maxWorkers,
          ...limits,
        },
      },
      {
        plugins: [threads()],
        test: {
          name: 'postgres',
          expect: patient,
          env: { DOCMOUNT_TEST_STORE: 'postgres' },
          include: onBothStores,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          ...limits,
        },
      },
      {
        plugins: [threads()],
        test: {
          name: 'mount',
          expect: patient,
          include: isSoak ? modelTests : [...mountTests, ...modelTests],
          exclude: leftOut,
          maxWorkers,
          ...limits,
        },
      },
    ],
  },
})
