import { type ConfigProblem, defineAgent, type OperationHandler } from '../agent.ts'
import { expressionFor, MASK } from '../expressions.ts'
import { KEY_HEADER, routingHeaders } from '../headers.ts'
import { LogstashFile } from '../logstash-file.ts'
import {
  type ChangeReport,
  type ConfigOperation,
  KEY_VARIABLE,
  placeAfter,
  placeIn,
  type Route,
  routesWithCollection,
  targetText,
} from '../operations.ts'
import { pathsOf, sourceText, syslogOf } from '../source-options.ts'

const NAME = 'Logstash'
const OURS = 'dendro'
const EVERYWHERE = 'for every output of this pipeline'

type HandlerOf<K extends ConfigOperation['kind']> = OperationHandler<LogstashFile, K>

/** Writes one pipeline; batch sizes and worker counts are not part of such a file. */
export const logstash = defineAgent<LogstashFile>({
  agent: 'logstash',
  displayName: NAME,
  format: 'conf',
  sources: ['file', 'syslog', 'docker', 'kubernetes'],
  versionMin: '8.8',
  needs: 'nothing else',
  comment: '#',
  open: (text) => new LogstashFile(text),
  write: ({ text }) => text,
  problems,
  handlers: {
    send: (file, operation, report) => send(file, operation, report),
    source: (file, operation, report) => addSource(file, operation, report),
    parse: (file, { form }, report) => {
      const filter = form === 'json' ? 'json {\n  source => "message"\n  skip_on_invalid_json => true\n}' : 'kv {\n  source => "message"\n}'
      file.add('filter', filter, `takes the keys of ${form} lines out`)
      report.done(`the keys of ${form} lines stand in the event, ${EVERYWHERE}`)
    },
    redact: (file, { what }, report) => {
      file.add('filter', `mutate {\n  gsub => ["message", ${quoted(expressionFor(what))}, "${MASK}"]\n}`, `masks ${what} before it leaves`)
      report.done(`gsub replaces ${what} by *** in the line, ${EVERYWHERE}; keys that were taken out before are not looked at`)
    },
    drop: (file, { match }, report) => {
      file.add('filter', `if [message] =~ ${quoted(match)} {\n  drop { }\n}`, 'leaves out what nobody reads')
      report.done(`lines that match ${match} are left out, ${EVERYWHERE}`)
    },
    sample: (file, { percent }, report) => {
      file.add('filter', `drop {\n  percentage => ${100 - percent}\n}`, `keeps ${percent} of a hundred, by chance`)
      report.done(`${percent} of a hundred events are kept by chance, ${EVERYWHERE}`)
    },
    traces: (_, __, report) => report.warn('Logstash knows no traces; let the OpenTelemetry Collector or Alloy take them'),
    batch: (_, { size, seconds }, report) => {
      if (size !== undefined && size !== 1_000)
        report.warn(`the size of batches is no part of this file: set pipeline.batch.size to ${size} in logstash.yml`)
      if (seconds !== undefined && seconds !== 1)
        report.warn(`how long batches wait is no part of this file: set pipeline.batch.delay to ${seconds * 1_000} in logstash.yml`)
    },
    compress: (file, { by }, report) => {
      if (by === 'zstd') report.warn('Logstash compresses by gzip only; nothing was changed')
      else if (onOutputs(file, report, 'http_compression', String(by === 'gzip')))
        report.done(by === 'gzip' ? 'requests are compressed by gzip' : 'requests are not compressed')
    },
    retry: (file, { seconds }, report) => {
      if (onOutputs(file, report, 'retry_failed', 'true')) report.done('a batch is tried again until it gets through')
      if (seconds > 0) report.warn(`Logstash never gives up on a batch: it cannot stop after ${seconds} s`)
    },
    tls: (file, { tls }, report) => {
      const members = {
        ssl_certificate_authorities: tls.ca_file === undefined ? undefined : `[${quoted(tls.ca_file)}]`,
        ssl_certificate: tls.cert_file === undefined ? undefined : quoted(tls.cert_file),
        ssl_key: tls.key_file === undefined ? undefined : quoted(tls.key_file),
        ssl_verification_mode: tls.verify === undefined ? undefined : tls.verify ? '"full"' : '"none"',
      }
      const given = Object.entries(members).filter(([, value]) => value !== undefined)
      const done = given.map(([name, value]) => onOutputs(file, report, name, value ?? ''))
      if (done.some(Boolean)) report.done('the connection uses the TLS settings that were given')
    },
    routes: (file, { routes }, report) => addRoutes(file, routes, report),
  },
})

/** Quotes a text for a file in which a backslash is literal; a quote becomes an escape of the regular expression. */
const quoted = (text: string): string => `"${text.replaceAll('"', '\\x22')}"`

const ours = (file: LogstashFile): string[] =>
  file
    .blocks()
    .flatMap((block) => (block.section === 'output' && block.name === 'http' ? (file.value(block, 'id') ?? []) : []))
    .filter((id) => id === OURS || id.startsWith(`${OURS}_`))

function onOutputs(file: LogstashFile, report: ChangeReport, setting: string, value: string): boolean {
  const ids = ours(file)
  if (ids.length === 0) report.warn('there is no output to this deployment whose settings could be meant; name a dataset to add one')
  for (const id of ids) file.set(file.plugin(id), setting, value)
  return ids.length > 0
}

const urlFor = (url: string, { collection, dataset }: { collection: string; dataset: string }): string =>
  `${url}/ingest/${encodeURIComponent(collection)}/${encodeURIComponent(dataset)}`

const send: HandlerOf<'send'> = (file, { url, place, tags }, report) => {
  const known = file.plugin(OURS)
  const target = placeAfter(place, placeIn((known && file.value(known, 'url')) ?? ''))
  if (known) {
    file.set(known, 'url', quoted(urlFor(url, target)))
    setTags(file, tags, report)
    report.done(`the output ${OURS} sent here already; its events now go to ${targetText(target)}`)
    return
  }
  // Sections in the order in which events pass them.
  if (file.isEmpty) file.text = 'input {\n}\n\nfilter {\n}\n'
  const headers = Object.entries({
    [KEY_HEADER]: `\${${KEY_VARIABLE}}`,
    ...routingHeaders({ collection: undefined, dataset: undefined }, tags),
  })
  const lines = headers.map(([name, value]) => `    ${quoted(name)} => ${quoted(value)}\n`).join('')
  const output = `http {
  id => "${OURS}"
  url => ${quoted(urlFor(url, target))}
  http_method => "post"
  format => "json_batch"
  http_compression => true
  headers => {
${lines}  }
}`
  file.add('output', output, `to this deployment, ${targetText(target)}`)
  report.done(
    `an HTTP output sends to ${url}, ${targetText(target)}; the key comes from the variable ${KEY_VARIABLE}, so that it stands in no file`,
  )
}

/** Sets the header with the tags of our output; its other headers stay. */
function setTags(file: LogstashFile, tags: Readonly<Record<string, string>>, report: ChangeReport): void {
  const known = file.plugin(OURS)
  for (const [name, value] of Object.entries(routingHeaders({ collection: undefined, dataset: undefined }, tags))) {
    const headers = known && file.blocks().find(({ start, close }) => start > known.open && close < known.close)
    if (headers) file.setEntry(headers, quoted(name), quoted(value))
    else report.warn(`the output ${OURS} has no headers to which tags could be added: none were`)
  }
}

const FRAME = '^(?<container_time>\\S+) (?<stream>stdout|stderr) [FP] (?<message>.*)$'

const addSource: HandlerOf<'source'> = (file, { source, multiline, platform }, report) => {
  const { kind } = source
  const codec =
    multiline === undefined
      ? ''
      : `  codec => multiline {\n    pattern => ${quoted(multiline)}\n    negate => true\n    what => "previous"\n  }\n`
  const files = (paths: readonly string[], more: string): string => `file {\n  path => [${paths.map(quoted).join(', ')}]\n${more}}`
  const inputs: Partial<Record<typeof kind, string>> = {
    file: files(pathsOf(source, platform), codec),
    syslog: `syslog {\n  port => ${syslogOf(source).port}\n}`,
    docker: files(['/var/lib/docker/containers/*/*-json.log'], ''),
    kubernetes: files(['/var/log/containers/*.log'], '  tags => ["kubernetes"]\n'),
  }
  file.add('input', inputs[kind] ?? '', `reads ${sourceText(source, platform)}`)
  report.done(`an input reads ${sourceText(source, platform)}`)
  if (kind === 'kubernetes')
    file.add(
      'filter',
      `if "kubernetes" in [tags] {\n  grok {\n    match => { "message" => ${quoted(FRAME)} }\n    overwrite => ["message"]\n  }\n}`,
      'takes the frame of the container runtime off',
    )
  if (kind === 'docker') report.done('the lines of Docker are JSON around the line of the program; the service looks into it')
  if (kind === 'syslog') report.done('the input syslog listens for TCP and UDP at the same port')
  if (multiline !== undefined && kind !== 'file') report.warn(`Logstash puts lines together for files only, not for ${kind}`)
}

/** Puts a condition around our output; the first matching route wins. */
function addRoutes(file: LogstashFile, requested: readonly Route[], report: ChangeReport): void {
  const known = file.plugin(OURS)
  if (!known) {
    report.warn('routes need an output to this deployment; name a dataset to add it')
    return
  }
  const plugin = file.text.slice(known.start, known.close + 1)
  const address = file.value(known, 'url') ?? ''
  const url = address.replace(/\/ingest\/.*$/, '')
  const routes = routesWithCollection(requested, placeIn(address).collection)
  const inner = '  '.repeat(known.depth)
  const deeper = (text: string): string => text.replaceAll(`\n${inner}`, `\n${inner}  `)
  const branches = routes.map(({ match, place }) => {
    const id = `${OURS}_${place.dataset.replaceAll(/\W+/g, '_')}`
    report.done(`lines that match ${match} go to ${targetText(place)} by the output ${id}`)
    const own = plugin
      .replace(`id => "${OURS}"`, () => `id => "${id}"`)
      .replace(/url => "[^"]*"/, () => `url => ${quoted(urlFor(url, place))}`)
    return `if [message] =~ ${quoted(match)} {\n${inner}  ${deeper(own)}\n${inner}} else `
  })
  file.replace(known.start, known.close + 1, `${branches.join('')}{\n${inner}  ${deeper(plugin)}\n${inner}}`)
}

function problems(file: LogstashFile): ConfigProblem[] {
  const found: ConfigProblem[] = []
  const blocks = file.blocks()
  for (const { name, depth, line } of blocks)
    if (depth === 0 && !['input', 'filter', 'output'].includes(name))
      found.push({ line, message: `Logstash knows no section ${name === '' ? 'without a name' : name}` })
  for (const name of ['input', 'output']) if (!file.section(name)) found.push({ message: `Logstash needs the section ${name}` })
  for (const block of blocks.filter(({ section, name }) => section === 'output' && name === 'http').slice(0, 100))
    for (const setting of ['url', 'http_method'])
      if (file.value(block, setting) === undefined) found.push({ line: block.line, message: `the output http has no ${setting}` })
  for (const block of blocks.filter(({ section, name, depth }) => section === 'input' && name === 'file' && depth === 1).slice(0, 100))
    if (file.value(block, 'path') === undefined) found.push({ line: block.line, message: 'the input file has no path' })
  return found
}
