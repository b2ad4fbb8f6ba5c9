import { writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { freePort } from '../../server/src/kernel/free-port.fixture.ts'
import { statusOf, until } from '../support/service.ts'
import type { DeliveryProgram, Placement, RunningProgram } from './delivery-harness.ts'
import { textOf } from './delivery-line.ts'
import { programOf } from './installed-programs.ts'
import { senderConfig } from './sender-files.ts'

/** nginx logs requests, whose user agent is the line, with its file of docs/senders.md. */
export const nginx: DeliveryProgram = {
  ...{ name: 'nginx', file: 'nginx.conf', executable: programOf('nginx') },
  ...{ delivery: 'unacknowledged', listener: 'syslog+udp', dataset: 'nginx' },
  start,
  isRight: ({ '@status': status, '@raw': raw, metadata: { timestamp } }, number, { startMs }) =>
    status === 'info' && raw.endsWith(`"${textOf('nginx', number)}"`) && timestamp >= startMs - 1_000 && timestamp <= Date.now(),
}

async function start({ home, url, key, port, lines, run }: Placement): Promise<RunningProgram> {
  const ownPort = await freePort()
  const file = join(home, 'nginx.conf')
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${home}/${name};`).join(' ')
  const http = senderConfig('nginx.conf', { url, key }).replaceAll(':514', `:${port}`)
  const server = `http { ${paths} server { listen 127.0.0.1:${ownPort}; location / { return 204; } }`
  await writeFile(file, `daemon off; pid ${home}/pid; events {}\n${http.replace('http {', server)}`)
  const child = run(['-p', home, '-e', 'stderr', '-c', file], { stdio: ['ignore', 'ignore', 'inherit'] })
  const address = `http://127.0.0.1:${ownPort}/`
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`nginx left with status ${child.exitCode}`)
    return (await statusOf(address)) === 204
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const request = (number: number) =>
    new Promise<void>((done, failed) => {
      get(address, { agent, headers: { 'user-agent': textOf('nginx', number) } }, (response) => response.resume().on('end', done)).on(
        'error',
        failed,
      )
    })
  return {
    send: async () => {
      for (let number = 0; number < lines; number += 1) await request(number)
      agent.destroy()
    },
  }
}
