import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fillSenderConfig, type SenderConfig, senders } from '../../api/src/senders.ts'

export const SENDER_FOLDER = resolve(import.meta.dirname, '../../api/senders')
const PAGE = resolve(import.meta.dirname, '../../docs/senders.md')
const EXAMPLE = { url: 'https://dendro.example', key: 'YOUR_KEY' }

export const senderFiles = (): string[] => readdirSync(SENDER_FOLDER).sort()

/** The file of a sender for a service and a key. */
export const senderConfig = (file: string, place: { url: string; key: string }): string =>
  fillSenderConfig(readFileSync(join(SENDER_FOLDER, file), 'utf8'), place)

const languages: ReadonlyMap<string, string> = new Map([
  ['mjs', 'js'],
  ['py', 'python'],
  ['alloy', 'hcl'],
  ['env', 'sh'],
])

function proofOf({ proof, program }: SenderConfig): string {
  if (proof === 'run') return `run with the program \`${program}\``
  return proof === 'replayed' ? 'its requests are replayed' : 'its syntax is checked'
}

const deliveryOf = ({ delivery }: SenderConfig): string => (delivery === undefined ? '–' : `stored ${delivery}`)

function sectionOf(sender: SenderConfig): string {
  const { file, title, use, listener } = sender
  const language = file.split('.').at(-1) ?? ''
  const needs =
    listener === undefined
      ? ''
      : `The service needs a [listener](listeners.md): \`DENDRO_LISTENERS="${fillSenderConfig(listener, EXAMPLE)}"\`.\n\n`
  return `## ${title}

${use} Test: ${proofOf(sender)}.

${needs}\`\`\`${languages.get(language) ?? language}
${senderConfig(file, EXAMPLE).trimEnd()}
\`\`\`
`
}

/** docs/senders.md, from the files that tests run. */
export function sendersPage(): string {
  const rows = senders.map(
    (sender) =>
      `| [${sender.title}](../api/senders/${sender.file}) | ${proofOf(sender)} | ${deliveryOf(sender)} | ${sender.ranWith ?? '–'} |`,
  )
  return `# Senders

Copy-and-paste configurations of ${senders.length} senders. Replace \`https://dendro.example\` by the address of your service and \`YOUR_KEY\` by an API key with the role
\`IngestionApi\`; the page "Send data" of the web app shows the same files with both filled in. Files of agents read the key from the variable \`DENDRO_API_KEY\`. The
[configuration assistant](config-assistant.md) writes the files of its seven agents, with more sources and options; a test compares them.

This page is generated from the files in \`api/senders/\` by \`node test/clients/sender-files.ts\`. Tests prove them in one of three ways:

- **run**: a test starts the program with the file and reads the events from the service. The test is skipped where the program is missing.
- **replayed**: a test sends recorded requests of the program, or requests in its documented form, to the address and with the credentials of the file.
- **parsed**: a test checks the syntax and the structure of the file. The program itself has not run with it.

Some programs also send 10,000 lines while the service is killed once and the network stalls once (\`test/clients/deliveries.test.ts\`): all lines arrive, with
their time, severity, host and fields. The table says how often they are stored:

- **once**: the protocol identifies a repeated batch, by an idempotency key, the ids of its entries, or the same bytes with times.
- **at least once**: nothing identifies a repeated batch. The lines of a batch whose answer was lost are stored twice.

The test runs the programs that it finds in PATH, and skips the others: \`otelcol\` or \`otelcol-contrib\` (over HTTP and gRPC), \`fluent-bit\`, \`rsyslogd\`, \`filebeat\`, \`alloy\`,
\`promtail\`, \`fluentd\`, \`vector\`, \`datadog-agent\`, \`syslog-ng\`, \`nginx\`, \`python3\`, and both \`systemd-journal-upload\` and \`systemd-journal-remote\`. The last column of the table has the versions that ran. The drivers of Docker run where \`DENDRO_TEST_DOCKER\` is the path of its client and the image \`example/app\` has a shell.
Syslog and GELF have no answers, so that a kill loses lines on their way: nginx and those two drivers of Docker send after the kill and the stall.

## Known gaps

- Logstash has not run with its file.
- Of the Datadog Agent, the log pipeline has run with its file: configuration, batches and HTTP sender. A loop that reads the log file stood in for its tailer.
- Recordings of Fluent Bit, the OpenTelemetry Collector, Promtail and others are replayed by \`test/wire/wire.test.ts\` as well.
- rsyslog repeats a failed batch message by message, so its file sends batches of 200. It has no time limit for a request:
  with version 8.2204 or newer, add \`indexTimeout="30000"\` to the action.
- Docker's Fluentd driver waits for the answer to every line, tens of which it sends a second; its test sends 1,000. For a container that logs more, leave out
  \`fluentd-request-ack\`: then a kill of the service loses the lines on their way, and the parts of a long line are joined.
- The Fluentd and Splunk drivers of Docker keep lines in memory only, and Docker's syslog and GELF drivers call everything on standard output \`info\`.
- An OpenTelemetry SDK drops a batch after 10 seconds or five attempts. Send to a collector on the same machine if nothing may be lost.
  The nightly run sends the traces of three services with automatic instrumentation directly and, where \`otelcol\` is in PATH, through a collector.
- syslog-ng cannot be installed next to rsyslog from Debian, so that continuous integration skips it; its test runs where the program is in PATH.
- Cloudflare, Firehose, Vercel and Heroku are services: tests send requests in their documented form.

## All senders

| Sender | Test | Kill and stall | Ran with |
| --- | --- | --- | --- |
${rows.join('\n')}

${senders.map(sectionOf).join('\n')}`
}

if (process.argv[1] === import.meta.filename) writeFileSync(PAGE, sendersPage())
