// Two projects: `unit` needs no kernel; `mount` goes through a real kernel mount, with docmount in a child process. Both run
// several files at once: each file has folders, services and mounts of its own.
import { defineConfig } from 'vitest/config'
import { WaitingFirst } from './support/waiting-first.ts'

const mountTests = ['test/mount/**/*.test.ts', 'test/behaviour/mount*.test.ts', 'test/crash/**/*.test.ts']

/** Random work under random trouble: half a minute here, for as long as you like by `scripts/soak`. */
const modelTests = ['test/model/**/*.test.ts']
const isSoak = process.env['DOCMOUNT_SOAK_MINUTES'] !== undefined

/** Threads run the sources too. */
const execArgv = ['--import', new URL('support/run-typescript.mjs', import.meta.url).href]

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    sequence: { sequencer: WaitingFirst },
    projects: [
      {
        test: {
          name: 'unit',
          execArgv,
          include: ['test/**/*.test.ts'],
          exclude: [...mountTests, ...modelTests],
          maxWorkers: 3,
          testTimeout: 60_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'mount',
          execArgv,
          include: isSoak ? modelTests : [...mountTests, ...modelTests],
          // Three lanes on two cores: a drive, its service and the program that uses it mostly wait for one another.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
