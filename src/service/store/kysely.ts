// Kysely, for the whole service by this one door: it is 279 files, which took a start 80 ms of the processor, and the writer's
// thread as much again. The build makes this one file of them (`scripts/bundle-kysely.mjs`).

export * from 'kysely'
