import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { copyMadeStores, killServices, startService, untilUp } from '../support/service.ts'

const dir = await mkdtemp(join(tmpdir(), 'dendro-stop-'))
afterAll(async () => {
  await killServices()
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

test('a stop ends with status 0 while a live tail streams, an upload stalls, and connections are idle', async () => {
  await copyMadeStores(dir)
  const service = await untilUp(startService(dir))
  const key = /dk_[\w-]+/.exec(service.said())?.[0] ?? ''
  const headers = { 'x-service-api-key': key, 'content-type': 'application/json' }
  const sent = await fetch(`${service.url}/ingest`, { method: 'POST', headers, body: '{"message":"hello"}' })
  expect(sent.status).toBe(200)
  const started = await fetch(`${service.url}/live-tail`, { method: 'POST', headers, body: '{"from_expr":"*"}' })
  const { job_id } = (await started.json()) as { job_id: string }
  const stream = await fetch(`${service.url}/live-tail/stream?job_id=${job_id}`, { headers })
  const streamed = stream.text()
  const { hostname, port } = new URL(service.url)
  const upload = connect(Number(port), hostname)
  upload.on('error', () => undefined)
  upload.write(`POST /ingest HTTP/1.1\r\nhost: x\r\nx-service-api-key: ${key}\r\ncontent-length: 1000\r\n\r\n{"message":`)
  const idle = connect(Number(port), hostname)
  idle.on('error', () => undefined)
  await once(idle, 'connect')

  service.child.kill('SIGTERM')
  const [status] = await once(service.child, 'exit')
  expect(status).toBe(0)
  expect(await streamed).toContain(': over, since the service stops')
})

test('a signal to npm start stops the service', async () => {
  const data = join(dir, 'npm')
  await copyMadeStores(data)
  const env = { ...process.env, DENDRO_DATA_DIR: data, DENDRO_PORT: '0', DENDRO_MEMORY: '2G', DENDRO_LOG_LEVEL: 'warn' }
  const npm = spawn('npm', ['start'], { cwd: resolve(import.meta.dirname, '../..'), env, stdio: ['ignore', 'pipe', 'inherit'] })
  // Every program that npm has started holds this pipe.
  const allEnded = once(npm.stdout, 'close')
  let said = ''
  npm.stdout.on('data', (chunk) => {
    said += chunk
  })
  await expect.poll(() => said).toContain('Stop with Ctrl-C')
  const address = /Dendro listens on +(\S+)/.exec(said)?.[1] ?? ''
  expect((await fetch(`${address}/live-tail`)).status).toBe(401)
  npm.kill('SIGTERM')
  await allEnded
  await expect(fetch(`${address}/live-tail`)).rejects.toThrow()
})
