import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { senders as senderConfigs } from '../../api/src/senders.ts'
import { agents } from '../../server/src/resources/assistants/config-assistant/agents.ts'
import { writeConfig } from '../../server/src/resources/assistants/config-assistant/work.ts'
import { openSenders, type Senders } from '../support/senders.ts'
import { type RecordedRequest, readRecording } from '../wire/wire.ts'
import { runProgram } from './run-program.ts'
import { senderConfig, senderFiles, sendersPage } from './sender-files.ts'

/** The configurations of docs/senders.md: compared, parsed, replayed and run. */
const root = resolve(import.meta.dirname, '../..')
const HTTPS = { url: 'https://logs.example.org', key: 'dk_an-example' }
const HTTP = { url: 'http://127.0.0.1:3000', key: 'dk_an-example' }

let senders: Senders
let place: { url: string; key: string }
let dir: string
beforeAll(async () => {
  senders = await openSenders()
  place = { url: senders.app.url, key: await senders.org.newKey(['IngestionApi']) }
  dir = await mkdtemp(join(tmpdir(), 'dendro-senders-'))
})
afterAll(async () => {
  await senders?.close()
  await rm(dir, { recursive: true, force: true, maxRetries: 5 })
})

test('every file is listed, and docs/senders.md is what `node test/clients/sender-files.ts` writes', () => {
  expect(senderFiles()).toEqual(senderConfigs.map(({ file }) => file).sort())
  expect(senderConfigs.length).toBeGreaterThanOrEqual(20)
  expect(readFileSync(join(root, 'docs/senders.md'), 'utf8')).toBe(sendersPage())
})

test.each(senderFiles())('%s has the address and the key, and no marks of the template', (file) => {
  for (const given of [HTTPS, HTTP, { ...HTTPS, url: 'https://[2001:db8::1]:8443' }]) {
    const text = senderConfig(file, given)
    expect(text.replaceAll('__path__', '')).not.toMatch(/__/)
    expect(text).toContain(new URL(given.url).hostname)
    expect(text.includes(given.key) || text.includes('DENDRO_API_KEY') || file.startsWith('docker') || file === 'nginx.conf').toBe(true)
  }
})

describe('the configuration assistant writes the same file', () => {
  test.each(agents.map((agent) => [agent.agent, agent] as const))('%s', (name, agent) => {
    const file = senderFiles().find((one) => one.startsWith(`${name}.`)) ?? ''
    const source = name === 'rsyslog' ? { kind: 'syslog' as const } : { kind: 'file' as const, options: { paths: ['/var/log/app/*.log'] } }
    for (const given of [HTTPS, HTTP]) {
      const { config, warnings } = writeConfig(agent, { dataset: 'app', sources: [source] }, given)
      // Filebeat takes 9200 for an address without a port.
      const text = senderConfig(file, given)
      expect(text).toBe(config)
      expect(agent.problems(text)).toEqual([])
      expect(warnings.filter((warning) => !warning.includes('without TLS'))).toEqual([])
    }
  })
})

describe('the syntax of each file is right', () => {
  const checks: Record<string, (text: string, file: string) => void> = {
    yaml: (text) => expect(parseYaml(text)).toBeTypeOf('object'),
    json: (text) => expect(JSON.parse(text)).toBeTypeOf('object'),
    sh: (text) => expect(spawnSync('sh', ['-n'], { input: text }).status).toBe(0),
    mjs: (text) => expect(spawnSync(process.execPath, ['--check', '--input-type=module', '-'], { input: text }).status).toBe(0),
    env: (text) => expect(text).toMatch(/^(\w+=\S+\n)+$/),
    py: (text) => expect(text).toContain('DendroHandler('),
    // Agents with a syntax of their own: the assistant has a reader for some, and blocks must be closed.
    conf: checkBlocks,
    alloy: checkBlocks,
  }
  test.each(senderFiles())('%s', (file) => {
    for (const given of [HTTPS, HTTP]) checks[file.split('.').at(-1) ?? '']?.(senderConfig(file, given), file)
    expect(checks).toHaveProperty(file.split('.').at(-1) ?? '')
  })
})

// Fluentd ignores a section that its output does not have, and reads variables only in double quotes.
test('the file of Fluentd adds the time by a filter, and its key is in double quotes', () => {
  const text = senderConfig('fluentd.conf', HTTPS)
  expect(text).not.toContain('<inject>')
  expect(text).toMatch(/<filter app>[^<]*<record>\s+@timestamp \$\{time\./)
  expect(text).toMatch(/^ {2}headers "\{\\"x-service-api-key\\":\\"#\{ENV\['DENDRO_API_KEY'\]\}\\"\}"$/m)
})

function checkBlocks(text: string, file: string): void {
  const lines = text.split('\n').map((line) => line.trim())
  if (file === 'journal-upload.conf') {
    expect(lines.filter((line) => line !== '' && !/^#|^\[Upload\]$|^\w+=\S/.test(line))).toEqual([])
    return
  }
  const open: string[] = []
  for (const line of lines.filter((one) => !/^(#|\/\/)/.test(one))) {
    const [, closes, tag] = /^<(\/?)(\w+).*>$/.exec(line) ?? []
    if (tag !== undefined && closes !== '/') open.push(tag)
    if (tag !== undefined && closes === '/') expect(open.pop()).toBe(tag)
    if (tag !== undefined) continue
    for (const mark of line.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '').match(/[{}()]/g) ?? []) {
      if ('{('.includes(mark)) open.push(mark)
      else expect(open.pop()).toBe(mark === '}' ? '{' : '(')
    }
  }
  expect(open).toEqual([])
}

type Post = { url: string; headers: Record<string, string>; body: Buffer }
type ReplayCase = {
  /** The requests that the program sends with this file. */
  posts: (text: string) => Post[]
  status: number
  collection?: string
  dataset: string
  events: number
}

const recorded = (name: string, target: { url: string; headers: Record<string, string> }): Post[] =>
  readRecording<RecordedRequest>(name).map(({ headers, body_b64 }) => {
    const own = headers.filter(([header]) => /^(content-type|content-encoding|x-prometheus-remote-write-version)$/i.test(header))
    return { url: target.url, headers: { ...Object.fromEntries(own), ...target.headers }, body: Buffer.from(body_b64, 'base64') }
  })
const withEnv = (text: string): string => text.replaceAll(/\$\{(?:env:)?DENDRO_API_KEY\}/g, place.key)
const basic = (url: string): Post['headers'] => {
  const { username, password } = new URL(url)
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}
const withoutUser = (url: string): string => url.replace(/\/\/[^@/]*@/, '//')

const replays: Record<string, ReplayCase> = {
  'otel-collector.yaml': {
    posts: (text) => {
      const exporter = parseYaml(withEnv(text)).exporters['otlphttp/dendro']
      return recorded('otelcol-0.145.0-otlp-http-gzip', { url: `${exporter.endpoint}/v1/logs`, headers: exporter.headers })
    },
    ...{ status: 200, dataset: 'app', events: 119 },
  },
  'fluent-bit.yaml': {
    posts: (text) => {
      const [output] = parseYaml(withEnv(text)).pipeline.outputs
      const headers = Object.fromEntries(output.header.map((line: string) => line.split(' ')))
      return recorded('fluent-bit-5.1.1-http-jsonlines', { url: `http://${output.host}:${output.port}${output.uri}`, headers })
    },
    ...{ status: 200, dataset: 'app', events: 120 },
  },
  'promtail.yaml': {
    posts: (text) => {
      const [client] = parseYaml(withEnv(text)).clients
      return recorded('promtail-3.6.15-loki-snappy', { url: client.url, headers: { authorization: `Bearer ${client.bearer_token}` } })
    },
    ...{ status: 204, dataset: 'app', events: 120 },
  },
  'journal-upload.conf': {
    posts: (text) => {
      const [, url = ''] = /^URL=(.*)$/m.exec(text) ?? []
      return recorded('systemd-journal-upload-252.39-journald', { url: `${withoutUser(url)}/upload`, headers: basic(url) })
    },
    ...{ status: 202, dataset: 'app', events: 120 },
  },
  'docker-splunk.yaml': {
    posts: (text) => {
      const { options } = parseYaml(text).services.app.logging
      return recorded('splunk-logging-0.11.1-splunk-hec', {
        url: `${options['splunk-url']}/services/collector/event/1.0`,
        headers: { authorization: `Splunk ${options['splunk-token']}` },
      })
    },
    ...{ status: 200, collection: 'main', dataset: 'app', events: 120 },
  },
  'datadog-agent.yaml': {
    posts: (text) => {
      const { api_key: key, logs_config: logs } = parseYaml(text)
      expect(logs.logs_no_ssl).toBe(true)
      return recorded('datadog-api-client-2.62.0-datadog', {
        url: `http://${logs.logs_dd_url}/api/v2/logs`,
        headers: { 'DD-API-KEY': key },
      })
    },
    ...{ status: 202, collection: 'test', dataset: 'app', events: 120 },
  },
  'cloudflare-logpush.json': {
    posts: (text) => {
      const url = new URL(JSON.parse(text).destination_conf)
      // Logpush sends parameters with this prefix as headers.
      const headers = Object.fromEntries([...url.searchParams].map(([name, value]) => [name.replace(/^header_/, ''), value]))
      url.search = ''
      const body = gzipSync('{"EdgeStartTimestamp":"2026-01-02T03:04:05Z","EdgeResponseStatus":502}\n')
      return [{ url: url.href, headers: { ...headers, 'content-encoding': 'gzip' }, body }]
    },
    ...{ status: 200, collection: 'cloudflare', dataset: 'http_requests', events: 1 },
  },
  'aws-firehose.json': {
    posts: (text) => {
      const { Url: url, AccessKey: key } = JSON.parse(text).HttpEndpointDestinationConfiguration.EndpointConfiguration
      const records = [{ data: Buffer.from('{"message":"hello"}').toString('base64') }]
      const body = Buffer.from(JSON.stringify({ requestId: 'r-1', timestamp: Date.now(), records }))
      const headers = { 'X-Amz-Firehose-Access-Key': key, 'X-Amz-Firehose-Request-Id': 'r-1', 'content-type': 'application/json' }
      return [{ url, headers, body }]
    },
    ...{ status: 200, dataset: 'default', events: 1 },
  },
  'vercel-drain.json': {
    posts: (text) => {
      const { url, headers } = JSON.parse(text)
      const entry = { id: 'e1', message: 'hello', timestamp: Date.now(), source: 'lambda', projectId: 'p1', projectName: 'shop' }
      return [{ url, headers: { ...headers, 'content-type': 'application/x-ndjson' }, body: Buffer.from(`${JSON.stringify(entry)}\n`) }]
    },
    ...{ status: 200, collection: 'vercel', dataset: 'shop', events: 1 },
  },
  'heroku-drain.sh': {
    posts: (text) => {
      const [, url = ''] = /'([^']+)'/.exec(text) ?? []
      const message = '<40>1 2026-01-02T03:04:05+00:00 host heroku web.1 - State changed from starting to up\n'
      const body = Buffer.from(`${Buffer.byteLength(message)} ${message}`)
      return [
        { url: withoutUser(url), headers: { ...basic(url), 'content-type': 'application/logplex-1', 'logplex-frame-id': 'f1' }, body },
      ]
    },
    ...{ status: 204, collection: 'heroku', dataset: 'app', events: 1 },
  },
}

test('each file that docs/senders.md calls replayed is replayed', () => {
  expect(Object.keys(replays).sort()).toEqual(senderConfigs.flatMap(({ file, proof }) => (proof === 'replayed' ? [file] : [])).sort())
})

describe('requests to the address and with the credentials of a file arrive', () => {
  test.each(Object.entries(replays))('%s', async (file, { posts, status, collection = 'default', dataset, events }) => {
    const before = (await senders.eventsIn(dataset, collection)).length
    for (const { url, headers, body } of posts(senderConfig(file, place))) {
      const answer = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })
      expect(answer.status, await answer.text()).toBe(status)
    }
    expect((await senders.eventsIn(dataset, collection)).length - before).toBe(events)
  })
})

/** Programs that send one event and end. The packages of the clients lie where an installation puts them. */
async function installClients(): Promise<void> {
  const modules = join(dir, 'node_modules')
  const installed = join(modules, '@dendro/logs')
  await mkdir(installed, { recursive: true })
  await symlink(join(root, 'clients/javascript/package.json'), join(installed, 'package.json'))
  for (const name of ['pino', 'winston']) await symlink(join(root, 'node_modules', name), join(modules, name))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const built = await runProgram(process.execPath, [
    ...[tsc, '-p', join(root, 'clients/javascript/tsconfig.package.json')],
    ...['--outDir', join(installed, 'dist')],
  ])
  expect(built).toEqual({ status: 0, output: '' })
}

describe('the programs send with their files', () => {
  const otelProgram = `import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { defaultResource, detectResources, envDetector } from '@opentelemetry/resources'
const resource = defaultResource().merge(detectResources({ detectors: [envDetector] }))
const provider = new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })] })
provider.getLogger('shop').emit({ severityNumber: 13, body: 'order 7 is late', attributes: { 'customer.id': 9 } })
await provider.shutdown()`

  const programs: Record<string, { command: (file: string, text: string) => [string, string[], Record<string, string>?] }> = {
    'curl.sh': { command: (file) => ['sh', [file]] },
    'pino.mjs': { command: (file) => [process.execPath, [file]] },
    'winston.mjs': { command: (file) => [process.execPath, [file]] },
    'python-logging.py': { command: (file) => ['python3', [file], { PYTHONPATH: join(root, 'clients/python') }] },
    'otel-sdk.env': {
      command: (_, text) => {
        const env = Object.fromEntries(
          text
            .trim()
            .split('\n')
            .map((line) => line.split(/=(.*)/s)),
        )
        return [process.execPath, ['--input-type=module', '-e', otelProgram], env]
      },
    },
  }
  const isMissing = (file: string): boolean => {
    const { program = '' } = senderConfigs.find((one) => one.file === file) ?? {}
    return spawnSync('sh', ['-c', `command -v ${program}`], { env: pathWithNode }).status !== 0
  }
  beforeAll(installClients)

  for (const [file, { command }] of Object.entries(programs)) {
    test.skipIf(isMissing(file))(`${file}`, async () => {
      const text = senderConfig(file, place)
      const target = join(dir, file)
      await writeFile(target, text)
      const [program, args, env] = command(target, text)
      const before = (await senders.eventsIn('app')).length
      const { status, output } = await runProgram(program, args, { cwd: file === 'otel-sdk.env' ? import.meta.dirname : dir, env })
      expect(status, output).toBe(0)
      const events = (await senders.eventsIn('app')).slice(before)
      expect(events).toHaveLength(1)
      expect(events[0]).toMatchObject({
        severity: file === 'curl.sh' ? 'info' : 'warn',
        keys: expect.objectContaining({ 'customer.id': '9' }),
      })
    })
  }
})

const pathWithNode = { PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}` }
