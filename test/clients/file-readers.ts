import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../service.ts'
import type { DeliveryProgram, Placement, RunningProgram } from './delivery-harness.ts'
import { textOf } from './delivery-line.ts'
import { programOf } from './installed-programs.ts'
import { senderConfig } from './sender-files.ts'

/** Agents that read files, with their files of docs/senders.md. */
type FileReader = Pick<DeliveryProgram, 'name' | 'file' | 'executable' | 'delivery' | 'hasTimeout' | 'isRight'> & {
  readonly args: (file: string, home: string) => readonly string[]
}

const collector: FileReader = {
  name: 'otel-collector',
  file: 'otel-collector.yaml',
  executable: programOf('otelcol-contrib', 'otelcol'),
  // A repeated export has the same bytes.
  delivery: 'once',
  // Its own metrics have a fixed port.
  args: (file) => ['--config', file, '--set=service::telemetry::metrics::level=none'],
  isRight: isLogLine({ name: 'otel-collector', fileKey: 'log.file.path' }),
}

const promtail: FileReader = {
  name: 'promtail',
  file: 'promtail.yaml',
  executable: programOf('promtail'),
  delivery: 'at least once',
  args: (file) => ['-config.file', file, '-config.expand-env=true'],
  isRight: isLogLine({ name: 'promtail', fileKey: '$filename' }),
}

export const fileReaders: readonly DeliveryProgram[] = [collector, promtail].map((reader) => ({
  ...reader,
  dataset: 'app',
  start: (placement) => start(reader, placement),
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
function isLogLine({ name, fileKey }: { name: string; fileKey: string }): DeliveryProgram['isRight'] {
  return ({ '@status': status, '@raw': raw, message_kvs, attributes, metadata: { timestamp } }, number, { home, startMs }) =>
    status === 'warn' &&
    raw === lineOf(name, number, startMs) &&
    message_kvs.message === textOf(name, number) &&
    message_kvs.host === 'web-1' &&
    message_kvs['cart.items'] === '2' &&
    (fileKey.startsWith('$') ? attributes : message_kvs)[fileKey] === join(home, 'log/app.log') &&
    timestamp >= startMs &&
    timestamp <= Date.now()
}

async function start(
  { name, file, args }: FileReader,
  { home, url, key, lines, startMs, countOf, run }: Placement,
): Promise<RunningProgram> {
  const logs = join(home, 'log')
  await mkdir(logs)
  const config = join(home, file)
  const text = senderConfig(file, { url, key })
    .replaceAll('/var/log/app', logs)
    .replaceAll(/\/var\/lib\/[\w-]+/g, home)
  await writeFile(config, text)
  const log = join(logs, 'app.log')
  await writeFile(log, '')
  const child = run(args(config, home), { stdio: ['ignore', 'ignore', 'ignore'] })
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
