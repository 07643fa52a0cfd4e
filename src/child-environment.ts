// Environment of programs that docmount starts, without docmount's keys: /proc shows the environment of a running process.

const secrets: readonly string[] = [
  'DOCMOUNT_API_KEY',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
]

/** Returns `env` without the keys. The database's password stays: the service's matching process connects with it. */
export function childEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.includes(name)))
}
