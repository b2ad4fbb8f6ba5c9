import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort } from '../../server/src/kernel/free-port.fixture.ts'
import { until } from '../support/service.ts'
import type { DeliveryProgram, Placement, RunningProgram } from './delivery-harness.ts'
import { textOf } from './delivery-line.ts'
import { programOf, rsyslogWith } from './installed-programs.ts'
import { senderConfig } from './sender-files.ts'

/** Daemons for system logs, with their files of docs/senders.md; each reads syslog at a port of its own. */
type Daemon = Pick<DeliveryProgram, 'name' | 'executable' | 'delivery' | 'hasTimeout' | 'isRight'> & {
  readonly args: (file: string, home: string) => readonly string[]
  readonly moved: (text: string, port: number, home: string) => string
}

const syslogNg: Daemon = {
  name: 'syslog-ng',
  executable: programOf('syslog-ng'),
  // Its HTTP has no idempotency key.
  delivery: 'at least once',
  moved: (text, port) => text.replace('port(5514)', `ip("127.0.0.1") port(${port})`),
  args: (file, home) => ['-F', '-f', file, '-R', join(home, 'persist'), '-p', join(home, 'pid'), '-c', join(home, 'control')],
  isRight: ({ '@status': status, message_kvs: { message, host, program, pid }, metadata: { timestamp } }, number, { startMs }) =>
    status === 'warn' &&
    `${host} ${program} ${pid}` === 'web-1 cart 7' &&
    message === textOf('syslog-ng', number) &&
    timestamp === startMs + number,
}

const rsyslog: Daemon = {
  name: 'rsyslog',
  executable: rsyslogWith('omelasticsearch'),
  delivery: 'at least once',
  moved: (text, port, home) => text.replace('port="5514"', `address="127.0.0.1" port="${port}"`).replace('/var/spool/rsyslog', home),
  args: (file, home) => ['-n', '-f', file, '-i', join(home, 'pid')],
  isRight: ({ '@status': status, '@raw': raw, message_kvs, attributes, metadata: { timestamp } }, number, { startMs }) =>
    status === 'warn' &&
    raw.trim() === textOf('rsyslog', number) &&
    message_kvs.program === 'cart' &&
    attributes['$host.name'] === 'web-1' &&
    timestamp === startMs + number,
}

export const syslogDaemons: readonly DeliveryProgram[] = [syslogNg, rsyslog].map((daemon) => ({
  ...daemon,
  file: `${daemon.name}.conf`,
  dataset: 'app',
  start: (placement) => start(daemon, placement),
}))

async function start({ name, args, moved }: Daemon, { home, url, key, lines, startMs, run }: Placement): Promise<RunningProgram> {
  const port = await freePort()
  const file = join(home, `${name}.conf`)
  await writeFile(file, moved(senderConfig(`${name}.conf`, { url, key }), port, home))
  const child = run(args(file, home), { stdio: ['ignore', 'ignore', 'inherit'] })
  const lineOf = (number: number) => `<12>${new Date(startMs + number).toISOString()} web-1 cart[7]: ${textOf(name, number)}\n`
  return {
    send: () => sendSyslog(child, port, Array.from({ length: lines }, (_, number) => lineOf(number)).join('')),
  }
}

/** Waits for the listener of a daemon and sends lines over one connection. */
async function sendSyslog(child: ChildProcess, port: number, lines: string): Promise<void> {
  await until(async () => {
    if (child.exitCode !== null) throw new Error('the daemon did not start')
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return isOpen
  })
  const socket = connect(port, '127.0.0.1')
  socket.end(lines)
  await once(socket, 'close')
}
