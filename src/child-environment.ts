// Environment of the programs that we start. Ours may hold keys, and theirs can be read for as long as they run.

const secrets: readonly string[] = [
  'DOCMOUNT_API_KEY',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
]

/** All but our keys. The password of the database stays: what matches for the service reads from there. */
export function childEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.includes(name)))
}
