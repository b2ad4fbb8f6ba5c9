import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { freePort } from '../../server/src/kernel/free-port.fixture.ts'
import { until } from '../support/service.ts'
import type { DeliveredEvent, DeliveryProgram, Placement, RunningProgram } from './delivery-harness.ts'
import { textOf } from './delivery-line.ts'
import { programOf } from './installed-programs.ts'
import { senderConfig } from './sender-files.ts'

/** Agents that read files, with their files of docs/senders.md. */
type FileReader = Pick<DeliveryProgram, 'name' | 'file' | 'executable' | 'delivery' | 'hasTimeout' | 'listener'> & {
  readonly args: (file: string, home: string, freePort: number) => readonly string[]
  /** A file that names the log file, for a program whose file of docs/senders.md does not. */
  readonly input?: { readonly file: string; readonly text: (log: string) => string }
  /** Further variables of the program. */
  readonly env?: (home: string) => Record<string, string>
  /** Changes the file for another protocol of the program. */
  readonly edited?: (text: string, home: string) => string
  /** The field with the path of the file; none when the program sends no path. */
  readonly path?: (event: DeliveredEvent) => string | undefined
  /** True for a program that sends a record around the line. */
  readonly wrapsLines?: true
  /** The host of the event; by default that of the line. */
  readonly host?: string
}

const collector: FileReader = {
  name: 'otel-collector',
  file: 'otel-collector.yaml',
  executable: programOf('otelcol-contrib', 'otelcol'),
  // A repeated export has the same bytes.
  delivery: 'once',
  // Its own metrics have a fixed port.
  args: (file) => ['--config', file, '--set=service::telemetry::metrics::level=none'],
  path: ({ message_kvs }) => message_kvs['log.file.path'],
}

/** The exporter for gRPC has the same members, and one more without TLS. */
const grpcCollector: FileReader = {
  ...collector,
  name: 'otel-collector-grpc',
  listener: 'otlp-grpc+tcp',
  edited: (text) =>
    text.replaceAll('otlphttp/dendro', 'otlp/dendro').replace('    compression:', '    tls:\n      insecure: true\n    compression:'),
}

const promtail: FileReader = {
  name: 'promtail',
  file: 'promtail.yaml',
  executable: programOf('promtail'),
  delivery: 'at least once',
  args: (file) => ['-config.file', file, '-config.expand-env=true'],
  path: ({ attributes }) => attributes.$filename,
}

const alloy: FileReader = {
  name: 'alloy',
  file: 'alloy.alloy',
  executable: programOf('alloy'),
  // A repeated export has the same bytes.
  delivery: 'once',
  args: (file, home, port) => [
    ...['run', `--storage.path=${join(home, 'storage')}`, `--server.http.listen-addr=127.0.0.1:${port}`, '--disable-reporting', file],
  ],
  path: ({ message_kvs }) => message_kvs.filename,
}

const fluentBit: FileReader = {
  name: 'fluent-bit',
  file: 'fluent-bit.yaml',
  executable: programOf('fluent-bit'),
  delivery: 'at least once',
  args: (file) => ['-c', file],
  path: ({ message_kvs }) => message_kvs.file,
  wrapsLines: true,
}

const filebeat: FileReader = {
  name: 'filebeat',
  file: 'filebeat.yaml',
  executable: programOf('filebeat'),
  delivery: 'at least once',
  args: (file, home) => ['-c', file, '--path.home', home, '--strict.perms=false'],
  path: ({ attributes }) => attributes['$log.file.path'],
}

const fluentd: FileReader = {
  name: 'fluentd',
  file: 'fluentd.conf',
  executable: programOf('fluentd'),
  delivery: 'at least once',
  args: (file) => ['--config', file],
  wrapsLines: true,
}

const vector: FileReader = {
  name: 'vector',
  file: 'vector.yaml',
  executable: programOf('vector'),
  delivery: 'at least once',
  args: (file) => ['--config', file],
  edited: (text, home) => `data_dir: ${home}\n${text}`,
  env: () => ({ VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION: 'true' }),
  path: ({ message_kvs }) => message_kvs.file,
  wrapsLines: true,
  // Its records name the machine that reads the file.
  host: hostname(),
}

/** Its check of the file names the service, which is the dataset. */
const datadogAgent: FileReader = {
  name: 'datadog-agent',
  file: 'datadog-agent.yaml',
  executable: programOf('datadog-agent'),
  delivery: 'at least once',
  args: (file) => ['run', '-c', file],
  input: {
    file: 'conf.d/app.d/conf.yaml',
    text: (log) => `logs:\n  - type: file\n    path: ${log}\n    service: app\n    source: shop\n`,
  },
  env: (home) => ({ DD_CONFD_PATH: join(home, 'conf.d'), DD_RUN_PATH: home }),
  path: ({ attributes }) => `${attributes.$dirname}/${attributes.$filename}`,
}

const readers: readonly FileReader[] = [collector, grpcCollector, promtail, alloy, fluentBit, filebeat, fluentd, vector, datadogAgent]
export const fileReaders: readonly DeliveryProgram[] = readers.map((reader) => ({
  ...reader,
  dataset: 'app',
  start: (placement) => start(reader, placement),
  isRight: (event, number, placement) => isLogLine(reader, event, number, placement),
}))

const lineOf = (program: string, number: number, startMs: number) =>
  JSON.stringify({
    timestamp: new Date(startMs + number).toISOString(),
    level: 'warn',
    host: 'web-1',
    message: textOf(program, number),
    cart: { items: 2 },
  })

/** The members of a JSON line are fields of the event; its time is that of reading, since these files parse no lines. */
function isLogLine(
  { name, path, wrapsLines, host = 'web-1' }: FileReader,
  event: DeliveredEvent,
  number: number,
  { home, startMs }: Placement,
): boolean {
  const { '@status': status, '@raw': raw, message_kvs, metadata } = event
  const line = lineOf(name, number, startMs)
  return (
    status === 'warn' &&
    (wrapsLines ? raw.includes(JSON.stringify(line).slice(1, -1)) : raw === line) &&
    (wrapsLines || message_kvs.message === textOf(name, number)) &&
    message_kvs.host === host &&
    message_kvs['cart.items'] === '2' &&
    (path === undefined || path(event) === join(home, 'log/app.log')) &&
    metadata.timestamp >= startMs &&
    metadata.timestamp <= Date.now()
  )
}

async function start(
  { name, file, args, input, env = () => ({}), edited = (text) => text }: FileReader,
  { home, url, key, lines, startMs, countOf, run }: Placement,
): Promise<RunningProgram> {
  const logs = join(home, 'log')
  await mkdir(logs)
  const config = join(home, file)
  const text = senderConfig(file, { url, key })
    .replaceAll('/var/log/app', logs)
    .replaceAll(/\/var\/lib\/[\w-]+/g, home)
  await writeFile(config, edited(text, home))
  const log = join(logs, 'app.log')
  await writeFile(log, '')
  if (input) {
    await mkdir(dirname(join(home, input.file)), { recursive: true })
    await writeFile(join(home, input.file), input.text(log))
  }
  const child = run(args(config, home, await freePort()), { stdio: ['ignore', 'ignore', 'ignore'], env: env(home) })
  const hasArrived = async (line: string): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`${name} left with status ${child.exitCode}`)
    return (await countOf(line)) > 0
  }
  // Agents begin at the end of a file that exists: the lines must come after that, and alone.
  await until(async () => {
    await appendFile(log, `${name} warms up\n`)
    return hasArrived(`${name} warms up`)
  })
  await appendFile(log, `${name} is ready\n`)
  await until(() => hasArrived(`${name} is ready`))
  return {
    send: () => appendFile(log, Array.from({ length: lines }, (_, number) => `${lineOf(name, number, startMs)}\n`).join('')),
  }
}
