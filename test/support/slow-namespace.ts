// A network namespace with a slow connection to this machine: a pair of virtual interfaces, with the kernel's token bucket filter
// on the inner one. Needs root.

import { run } from './run.ts'

export interface SlowNamespace extends AsyncDisposable {
  /** This machine's address on the pair: a service for the namespace listens there. */
  readonly host: string
  /** First words of a command line that runs in the namespace, but with this machine's mounts. */
  readonly within: readonly string[]
}

/** Makes the namespace. Values as for `tc`: `rate` (`2mbit`), and `buffer`, the time after which waiting packets are dropped. */
export async function startSlowNamespace(limits: { rate: string; buffer: string }): Promise<SlowNamespace> {
  const name = `docmount-${process.pid}`
  const [outer, inner] = [`dmo${process.pid}`, `dmi${process.pid}`]
  // From a block that no real network uses (RFC 5737).
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
    const bucket = ['rate', limits.rate, 'burst', '16kb', 'latency', limits.buffer]
    await inside('tc', 'qdisc', 'add', 'dev', inner, 'root', 'tbf', ...bucket)
  } catch (error) {
    await remove()
    throw error
  }
  return { host, within, [Symbol.asyncDispose]: remove }
}
