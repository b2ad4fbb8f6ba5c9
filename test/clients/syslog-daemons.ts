import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { freePort, until } from '../service.ts'
import { senderConfig } from './sender-files.ts'

/** The program, if it is installed. */
export const syslogNg = (process.env.PATH ?? '')
  .split(delimiter)
  .concat('/usr/sbin')
  .map((dir) => join(dir, 'syslog-ng'))
  .find((path) => existsSync(path))

/** Starts syslog-ng with its file of docs/senders.md; it reads syslog at a port of its own. */
export async function startSyslogNg(
  program: string,
  { dir, place }: { dir: string; place: { url: string; key: string } },
): Promise<{ child: ChildProcess; port: number }> {
  const port = await freePort()
  const home = join(dir, 'syslog-ng')
  await mkdir(home)
  const file = join(home, 'syslog-ng.conf')
  await writeFile(file, senderConfig('syslog-ng.conf', place).replace('port(5514)', `ip("127.0.0.1") port(${port})`))
  const args = ['-F', '-f', file, '-R', join(home, 'persist'), '-p', join(home, 'pid'), '-c', join(home, 'control')]
  const env = { ...process.env, DENDRO_API_KEY: place.key }
  return { child: spawn(program, args, { cwd: home, stdio: ['ignore', 'ignore', 'inherit'], env }), port }
}

/** Waits for the listener of a daemon and sends lines over one connection. */
export async function sendSyslog({ child, port }: { child: ChildProcess; port: number }, lines: readonly string[]): Promise<void> {
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
  socket.end(lines.map((line) => `${line}\n`).join(''))
  await once(socket, 'close')
}
