import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { CallList, Trace, TraceList } from '@dendro/api'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../server/src/kernel/free-port.fixture.ts'
import { isNightly } from '../support/nightly.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../support/world.ts'
import { programOf } from './installed-programs.ts'

/**
 * Three small services that the SDKs of OpenTelemetry for Node and Python instrument by themselves, in the nightly run: the SDKs come from the
 * registries. They send directly, and through a collector where one is installed. Before a merge test/journeys/shippers.test.ts sends spans with the
 * exporters of the one for Node.
 */
const hasPython = isNightly && spawnSync('python3', ['-m', 'venv', '--help']).status === 0

const NODE_PACKAGES = ['@opentelemetry/auto-instrumentations-node@0.82.0', '@opentelemetry/api@1.10.0']
const PYTHON_PACKAGES = [
  'opentelemetry-distro==0.66b1',
  'opentelemetry-exporter-otlp-proto-http==1.45.1',
  'opentelemetry-instrumentation-flask==0.66b1',
  'opentelemetry-instrumentation-logging==0.66b1',
  'flask==3.1.3',
]
const INSTALL_MS = 900_000

/** Answers what the service behind it answers. */
const FORWARDING = `const http = require('node:http')
const [, , port, next] = process.argv
http.createServer((request, response) => {
  http.get(next + request.url, (answer) => {
    response.statusCode = answer.statusCode
    answer.pipe(response)
  }).on('error', () => response.writeHead(502).end())
}).listen(Number(port), '127.0.0.1')
`
const PAYMENTS = `import logging, sys
from flask import Flask
app = Flask(__name__)
@app.get("/charge/<order>")
def charge(order):
    if order == "refused":
        logging.getLogger("payments").error("the bank refused order %s", order)
        return "refused", 500
    return "paid"
app.run(port=int(sys.argv[1]))
`

let folder: string
let app: TestApp
let org: TestOrganization
const children: ChildProcess[] = []

const collector = programOf('otelcol-contrib', 'otelcol')
/** Takes spans and logs over HTTP, and sends them on. */
const collecting = (port: number): string => `receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:${port}
processors:
  batch:
    timeout: 100ms
exporters:
  otlphttp:
    endpoint: ${app.url}
    headers:
      x-service-api-key: ${org.key}
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [batch]
      exporters: [otlphttp]
    logs:
      receivers: [otlp]
      processors: [batch]
      exporters: [otlphttp]
`

/** Starts a collector. Returns its address, once it listens. */
async function startCollector(): Promise<string> {
  const port = await freePort()
  await writeFile(join(folder, 'collector.yaml'), collecting(port))
  // Its own metrics have a fixed port.
  const args = [
    '--config',
    'collector.yaml',
    '--set=service::telemetry::metrics::level=none',
    '--set=service::telemetry::logs::level=error',
  ]
  children.push(spawn(collector ?? '', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] }))
  const url = `http://127.0.0.1:${port}`
  await vi.waitFor(() => fetch(url), { timeout: 240_000, interval: 200 })
  return url
}

const run = (command: string, args: readonly string[]) => promisify(execFile)(command, args, { cwd: folder })

function start(target: string, service: string, command: string, args: readonly string[]): void {
  const env = {
    ...process.env,
    OTEL_SERVICE_NAME: service,
    OTEL_EXPORTER_OTLP_ENDPOINT: target,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${org.key}`,
    OTEL_METRICS_EXPORTER: 'none',
    // Others ask clouds where they run.
    OTEL_NODE_RESOURCE_DETECTORS: 'env,host,os,process',
    OTEL_LOGS_EXPORTER: 'otlp',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_BLRP_SCHEDULE_DELAY: '100',
    OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED: 'true',
  }
  children.push(spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] }))
}

describe.skipIf(!hasPython)('services that are instrumented by themselves', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dendro-traced-'))
    app = await openTestApp()
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "commonjs" }\n')
    await writeFile(join(folder, 'forwarding.js'), FORWARDING)
    await writeFile(join(folder, 'payments.py'), PAYMENTS)
    await Promise.all([
      run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...NODE_PACKAGES]),
      run('python3', ['-m', 'venv', 'python']).then(() => run(join(folder, 'python/bin/pip'), ['install', '--quiet', ...PYTHON_PACKAGES])),
    ])
  }, INSTALL_MS)
  afterEach(() => {
    // The SDK for Node takes other signals and goes on.
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })
  afterAll(async () => {
    await app?.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })

  /** Starts the services, which send to an address. Returns the address of the first. */
  async function startServices(target: string): Promise<string> {
    const [gateway, orders, payments] = [await freePort(), await freePort(), await freePort()]
    const instrumented = ['--require', '@opentelemetry/auto-instrumentations-node/register', 'forwarding.js']
    const python = join(folder, 'python/bin/opentelemetry-instrument')
    start(target, 'payments', python, ['python/bin/python', 'payments.py', String(payments)])
    start(target, 'orders', process.execPath, [...instrumented, String(orders), `http://127.0.0.1:${payments}`])
    start(target, 'gateway', process.execPath, [...instrumented, String(gateway), `http://127.0.0.1:${orders}`])
    const url = `http://127.0.0.1:${gateway}`
    await vi.waitFor(async () => expect((await fetch(`${url}/charge/first`)).status).toBe(200), { timeout: 240_000, interval: 500 })
    return url
  }

  const ways: Record<string, { isSkipped: boolean; target: () => Promise<string> }> = {
    'sent directly': { isSkipped: false, target: async () => app.url },
    'sent through a collector (needs the program otelcol)': { isSkipped: collector === undefined, target: startCollector },
  }
  for (const [way, { isSkipped, target }] of Object.entries(ways)) {
    test.skipIf(isSkipped)(
      `a request is one trace through all of them with its log event, and the map shows who calls whom, ${way}`,
      async () => {
        org = await app.newOrganization()
        const url = await startServices(await target())
        expect((await fetch(`${url}/charge/refused`)).status).toBe(500)
        const POLLED = { timeout: 240_000, interval: 500 }
        const found = await vi.waitFor(async () => {
          const { body } = await org.ask<TraceList>('GET', '/traces?status=error&service=payments')
          expect(body.traces.map(({ services_total, root }) => [services_total, root?.service])).toEqual([[3, 'gateway']])
          return body.traces[0]?.trace_id ?? ''
        }, POLLED)
        const trace = await vi.waitFor(async () => {
          const { body } = await org.ask<Trace>('GET', `/traces/${found}`)
          expect([body.missing_spans, body.logs.length]).toEqual([[], 1])
          return body
        }, POLLED)
        expect(trace.services.map(({ service }) => service).toSorted()).toEqual(['gateway', 'orders', 'payments'])
        // Server and client in turns, from the gateway to payments.
        expect(trace.spans.map(({ service, kind, depth }) => [service, kind, depth])).toEqual([
          ['gateway', 'SPAN_KIND_SERVER', 0],
          ['gateway', 'SPAN_KIND_CLIENT', 1],
          ['orders', 'SPAN_KIND_SERVER', 2],
          ['orders', 'SPAN_KIND_CLIENT', 3],
          ['payments', 'SPAN_KIND_SERVER', 4],
        ])
        const [log] = trace.logs
        expect(JSON.stringify(log?.event)).toContain('the bank refused order refused')
        expect(log?.span_id).toBe(trace.spans[4]?.span_id)
        const { body: map } = await org.ask<CallList>('GET', '/traces/calls')
        // Requests that came before all services had started may have reached nobody.
        const between = map.calls.filter(({ kind }) => kind === 'service')
        expect(between.map(({ from, to, kind }) => [from, to, kind]).toSorted()).toEqual([
          ['gateway', 'orders', 'service'],
          ['orders', 'payments', 'service'],
        ])
      },
      INSTALL_MS,
    )
  }
})
