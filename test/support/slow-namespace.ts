// A network namespace whose only way out is slow: a pair of virtual interfaces, and the kernel's own token bucket on the inner
// one. For root.

import { run } from './run.ts'

export interface SlowNamespace extends AsyncDisposable {
  /** The address of this side, where a service for it listens. */
  readonly host: string
  /** Runs a command in there: its network is the namespace's, its mounts are this machine's. */
  readonly within: readonly string[]
}

/** `buffer`: what waits longer is dropped, as `tc` writes a time. */
export async function startSlowNamespace(how: { rate: string; buffer: string }): Promise<SlowNamespace> {
  const name = `docmount-${process.pid}`
  const [outer, inner] = [`dmo${process.pid}`, `dmi${process.pid}`]
  // Of a block that no network uses (RFC 5737).
  const subnet = `198.51.100.${(process.pid % 64) * 4}`
  const [host, guest] = [1, 2].map((n) => subnet.replace(/\d+$/, (last) => String(Number(last) + n))) as [
    string,
    string,
  ]
  const within = ['nsenter', `--net=/run/netns/${name}`]
  const inside = (...command: string[]): Promise<unknown> => run('nsenter', [...within.slice(1), ...command])
  const remove = async (): Promise<void> => {
    await run('ip', ['link', 'del', outer], { mayFail: true })
    await run('ip', ['netns', 'del', name], { mayFail: true })
  }
  try {
    await run('ip', ['netns', 'add', name])
    await run('ip', ['link', 'add', outer, 'type', 'veth', 'peer', 'name', inner, 'netns', name])
    await run('ip', ['addr', 'add', `${host}/30`, 'dev', outer])
    await run('ip', ['link', 'set', outer, 'up'])
    await inside('ip', 'addr', 'add', `${guest}/30`, 'dev', inner)
    await inside('ip', 'link', 'set', 'lo', 'up')
    await inside('ip', 'link', 'set', inner, 'up')
    const bucket = ['rate', how.rate, 'burst', '16kb', 'latency', how.buffer]
    await inside('tc', 'qdisc', 'add', 'dev', inner, 'root', 'tbf', ...bucket)
  } catch (error) {
    await remove()
    throw error
  }
  return { host, within, [Symbol.asyncDispose]: remove }
}
