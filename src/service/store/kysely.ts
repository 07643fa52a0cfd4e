// The only import of Kysely: it has 279 files, which the build bundles into one, as far as they are used
// (`scripts/bundle-program.mjs`).

export * from 'kysely'
