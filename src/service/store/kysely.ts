// Kysely, for the whole service by this one door: it is 279 files, of which the build makes a part of one
// (`scripts/bundle-program.mjs`).

export * from 'kysely'
