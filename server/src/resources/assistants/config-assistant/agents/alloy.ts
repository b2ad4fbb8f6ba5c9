import { type ConfigProblem, defineAgent, type OperationHandler } from '../agent.ts'
import { AlloyFile } from '../alloy-file.ts'
import { expressionFor } from '../expressions.ts'
import { KEY_HEADER, routingHeaders } from '../headers.ts'
import { lineFinder } from '../masked-text.ts'
import {
  type ChangeReport,
  type ConfigOperation,
  type DatasetTarget,
  KEY_VARIABLE,
  type Route,
  routesWithCollection,
  targetText,
} from '../operations.ts'
import { matching, parsing, redacting, sampling } from '../ottl.ts'
import { otlpOf, pathsOf, sourceText, syslogOf, unitsOf } from '../source-options.ts'

const NAME = 'Grafana Alloy'
const EXPORTER = 'otelcol.exporter.otlphttp'
const OURS = `${EXPORTER}.dendro`
const RECEIVER = 'otelcol.receiver.loki'
const BATCH = 'otelcol.processor.batch.dendro'
/** Blocks of Alloy that are not components. */
const SETTINGS = [
  'logging',
  'tracing',
  'argument',
  'export',
  'declare',
  'foreach',
  'http',
  'livedebugging',
  'remotecfg',
  'import.file',
  'import.git',
  'import.http',
  'import.string',
]

type HandlerOf<K extends ConfigOperation['kind']> = OperationHandler<AlloyFile, K>

/** Sends by OTLP; all input goes through OpenTelemetry processors. */
export const alloy = defineAgent<AlloyFile>({
  agent: 'alloy',
  displayName: NAME,
  format: 'conf',
  sources: ['file', 'journald', 'syslog', 'docker', 'kubernetes', 'otlp'],
  versionMin: '1.5',
  needs: 'nothing else',
  comment: '//',
  open: (text) => new AlloyFile(text),
  write: ({ text }) => text,
  problems,
  handlers: {
    send: (file, operation, report) => send(file, operation, report),
    source: (file, operation, report) => addSource(file, operation, report),
    parse: (file, { form }, report) => {
      if (addProcessor(file, 'transform', 'parse', transform([parsing(form)]), `takes the keys of ${form} lines out`, report))
        report.done(`the keys of ${form} lines become attributes; the line itself stays as it is`)
    },
    redact: (file, { what }, report) => {
      if (addProcessor(file, 'transform', 'redact', transform(redacting(expressionFor(what))), `masks ${what} before it leaves`, report))
        report.done(`${what} is replaced by *** in lines and attributes, before anything leaves the machine`)
    },
    drop: (file, { match }, report) => {
      if (addProcessor(file, 'filter', 'drop', filter([matching(match)]), 'leaves out what nobody reads', report))
        report.done(`lines that match ${match} are left out`)
    },
    sample: (file, { percent }, report) => {
      if (addProcessor(file, 'filter', 'sample', filter([sampling(percent)]), `keeps ${percent} of a hundred, by chance`, report))
        report.done(`${percent} of a hundred records are kept by chance; it needs no trace id, which most logs lack`)
    },
    traces: (file, _, report) => addTraces(file, report),
    batch: (file, operation, report) => setBatch(file, operation, report),
    compress: (file, { by }, report) =>
      onExporters(file, report, (path) => file.set(path, ['client'], 'compression', quoted(by))) &&
      report.done(`requests are compressed by ${by}`),
    retry: (file, { seconds }, report) => {
      if (onExporters(file, report, (path) => file.set(path, ['retry_on_failure'], 'max_elapsed_time', quoted(`${seconds}s`))))
        report.done(seconds === 0 ? 'a batch is tried again until it gets through' : `a batch is tried again for ${seconds} s`)
    },
    tls: (file, { tls }, report) => {
      const set = (path: string): void => {
        for (const [name, value] of Object.entries({ ca_file: tls.ca_file, cert_file: tls.cert_file, key_file: tls.key_file }))
          if (value !== undefined) file.set(path, ['client', 'tls'], name, quoted(value))
        if (tls.verify !== undefined) file.set(path, ['client', 'tls'], 'insecure_skip_verify', String(!tls.verify))
      }
      if (onExporters(file, report, set)) report.done('the connection uses the TLS settings that were given')
    },
    routes: (file, { routes }, report) => addRoutes(file, routes, report),
  },
})

const quoted = (text: string): string => JSON.stringify(text)
const list = (items: readonly string[], depth: number): string =>
  `[\n${items.map((item) => `${'  '.repeat(depth + 1)}${item},\n`).join('')}${'  '.repeat(depth)}]`
const transform = (statements: readonly string[]): string =>
  `  error_mode = "ignore"\n  log_statements {\n    context    = "log"\n    statements = ${list(statements.map(quoted), 2)}\n  }\n`
const filter = (conditions: readonly string[]): string =>
  `  error_mode = "ignore"\n  logs {\n    log_record = ${list(conditions.map(quoted), 2)}\n  }\n`
const output = (references: string): string => `  output {\n    logs = [${references}]\n  }\n`

/** The exporter to change: ours, or the only one. */
function target(file: AlloyFile): string | undefined {
  if (file.find(OURS)) return OURS
  const all = file.blocks().filter(({ name }) => name === EXPORTER)
  return all.length === 1 ? all[0]?.path : undefined
}

function exporterText(label: string, url: string, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `      ${quoted(name)} = ${quoted(value)},\n`)
  return `${EXPORTER} "${label}" {
  client {
    endpoint    = ${quoted(url)}
    compression = "gzip"
    headers     = {
      ${quoted(KEY_HEADER)} = sys.env("${KEY_VARIABLE}"),
${lines.join('')}    }
  }
}`
}

const send: HandlerOf<'send'> = (file, { url, place, tags }, report) => {
  const isNew = file.isEmpty
  const headers = routingHeaders(place, tags)
  if (file.find(OURS)) {
    for (const [name, value] of Object.entries(headers)) setHeader(file, OURS, name, value)
    const after = file.value(OURS, ['client'], 'headers') ?? ''
    const named = (part: string): string | undefined => new RegExp(`"x-service-${part}"\\s*=\\s*"([^"]*)"`).exec(after)?.[1]
    report.done(
      `${OURS} sent here already; its events now go to ${targetText({ collection: named('collection'), dataset: named('dataset') })}`,
    )
    return
  }
  file.append(exporterText('dendro', url, headers), `to this deployment, ${targetText(place)}`)
  if (!isNew) feedFromSources(file)
  report.done(
    `${OURS} sends to ${url}, ${targetText(place)}; the key comes from the variable ${KEY_VARIABLE}, so that it stands in no file`,
  )
}

function setHeader(file: AlloyFile, path: string, name: string, value: string): void {
  const old = file.value(path, ['client'], 'headers') ?? '{}'
  const line = `${quoted(name)} = ${quoted(value)},`
  const known = new RegExp(`${quoted(name)}\\s*=\\s*"[^"]*",?`)
  const headers = known.test(old) ? old.replace(known, () => line) : `${old.slice(0, old.lastIndexOf('}')).trimEnd()}\n      ${line}\n    }`
  file.set(path, ['client'], 'headers', headers)
}

/** Connects every file source to our exporter. */
function feedFromSources(file: AlloyFile): void {
  for (const { name, path } of file.blocks()) {
    if (name.startsWith('loki.source.')) file.add(path, [], 'forward_to', `${lokiEntry(file)}.receiver`)
    else if (name.startsWith('otelcol.receiver.') && name !== RECEIVER) file.add(path, ['output'], 'logs', `${OURS}.input`)
  }
}

/** The component that turns lines into records; created if none leads to the exporter. */
function lokiEntry(file: AlloyFile): string {
  const path = `${RECEIVER}.dendro`
  if (!file.find(path)) file.append(`${RECEIVER} "dendro" {\n${output(firstHop(file))}}`, 'lines become records')
  return path
}

/** The first component before the exporter: only receivers lead to it. */
function firstHop(file: AlloyFile): string {
  const known = file.value(`${RECEIVER}.dendro`, ['output'], 'logs')
  if (known !== undefined) return known.trim().slice(1, -1)
  const processors = file.blocks().filter(({ name }) => name.startsWith('otelcol.processor.'))
  const led = processors.map(({ path }) => file.value(path, ['output'], 'logs') ?? '')
  const heads = processors.filter(({ path }) => !led.some((references) => references.includes(`${path}.input`)))
  const leads = (path: string): boolean => led[processors.findIndex((one) => one.path === path)] !== undefined
  const [head] = heads.filter(({ path }) => leads(path))
  return head ? `${head.path}.input` : `${target(file) ?? OURS}.input`
}

const addSource: HandlerOf<'source'> = (file, { source, multiline, platform }, report) => {
  const { kind } = source
  if (target(file) === undefined) {
    report.warn('there is no single OTLP exporter to which a new source could lead; name a dataset to add one for this deployment')
    return
  }
  const { port, protocol } = syslogOf(source)
  const { http, grpc, host } = otlpOf(source, platform)
  if (kind === 'otlp') {
    const label = file.freeLabel('otelcol.receiver.otlp', 'otlp')
    const hop = firstHop(file)
    file.append(
      `otelcol.receiver.otlp "${label}" {\n  grpc {\n    endpoint = "${host}:${grpc}"\n  }\n  http {\n    endpoint = "${host}:${http}"\n  }\n${output(hop)}}`,
      `reads ${sourceText(source, platform)}`,
    )
    report.done(`otelcol.receiver.otlp.${label} reads ${sourceText(source, platform)}`)
    if (multiline !== undefined) report.warn('events of otlp come one by one: multiline does not apply to them')
    return
  }
  const entry = `${lokiEntry(file)}.receiver`
  const isJoined = multiline !== undefined && (kind === 'file' || kind === 'docker' || kind === 'kubernetes')
  const label = file.freeLabel(
    `loki.source.${kind === 'journald' ? 'journal' : kind}`,
    { file: 'files', journald: 'journal', syslog: 'syslog', docker: 'docker', kubernetes: 'pods' }[kind],
  )
  const joined = isJoined ? file.freeLabel('loki.process', label) : undefined
  const to = `  forward_to = [${joined === undefined ? entry : `loki.process.${joined}.receiver`}]\n`
  const paths = pathsOf(source, platform).map((path) => `{"__path__" = ${quoted(path)}}`)
  const units = unitsOf(source).map((unit) => `_SYSTEMD_UNIT=${unit}`)
  const texts = {
    file: `local.file_match "${label}" {\n  path_targets = ${list(paths, 1)}\n}\n\nloki.source.file "${label}" {\n  targets       = local.file_match.${label}.targets\n  tail_from_end = true\n${to}}`,
    journald: `loki.source.journal "${label}" {\n${units.length > 0 ? `  matches    = ${quoted(units.join(' '))}\n` : ''}${to}}`,
    syslog: `loki.source.syslog "${label}" {\n  listener {\n    address  = "0.0.0.0:${port}"\n    protocol = "${protocol}"\n  }\n${to}}`,
    docker: `discovery.docker "${label}" {\n  host = "unix:///var/run/docker.sock"\n}\n\nloki.source.docker "${label}" {\n  host       = "unix:///var/run/docker.sock"\n  targets    = discovery.docker.${label}.targets\n${to}}`,
    kubernetes: `discovery.kubernetes "${label}" {\n  role = "pod"\n}\n\nloki.source.kubernetes "${label}" {\n  targets    = discovery.kubernetes.${label}.targets\n${to}}`,
  } satisfies Record<typeof kind, string>
  file.append(texts[kind], `reads ${sourceText(source, platform)}`)
  if (joined !== undefined)
    file.append(
      `loki.process "${joined}" {\n  stage.multiline {\n    firstline = ${quoted(multiline ?? '')}\n  }\n  forward_to = [${entry}]\n}`,
      'puts the lines of one event together',
    )
  report.done(`loki.source.${kind === 'journald' ? 'journal' : kind}.${label} reads ${sourceText(source, platform)}`)
  if (multiline !== undefined && !isJoined) report.warn(`events of ${kind} come one by one: multiline does not apply to them`)
}

/** Inserts a processor before the exporter and before batching. */
function addProcessor(
  file: AlloyFile,
  kind: 'transform' | 'filter' | 'batch',
  wanted: string,
  body: string,
  comment: string,
  report: ChangeReport,
): string | undefined {
  const exporter = target(file)
  if (exporter === undefined) {
    report.warn('there is no single OTLP exporter whose records could be meant; name a dataset to add one for this deployment')
    return undefined
  }
  const name = `otelcol.processor.${kind}`
  const label = file.freeLabel(name, wanted)
  const hop = kind !== 'batch' && file.find(BATCH) ? `${BATCH}.input` : `${exporter}.input`
  file.redirect(hop, `${name}.${label}.input`)
  file.append(`${name} "${label}" {\n${body}${output(hop)}}`, comment)
  return `${name}.${label}`
}

const setBatch: HandlerOf<'batch'> = (file, { size, seconds }, report) => {
  const found = file.blocks().find(({ name }) => name === 'otelcol.processor.batch')?.path
  const path = found ?? addProcessor(file, 'batch', 'dendro', '', 'few large requests instead of many small ones', report)
  if (path === undefined) return
  if (size !== undefined) file.set(path, [], 'send_batch_size', String(size))
  if (size !== undefined) file.set(path, [], 'send_batch_max_size', String(size))
  if (seconds !== undefined) file.set(path, [], 'timeout', quoted(`${seconds}s`))
  const what = [size === undefined ? '' : `of ${size} records`, seconds === undefined ? '' : `after ${seconds} s at the latest`].filter(
    Boolean,
  )
  report.done(`${path} sends batches ${what.join(', ')}`)
}

function onExporters(file: AlloyFile, report: ChangeReport, change: (path: string) => void): boolean {
  const own = file
    .blocks()
    .filter(({ path }) => path === OURS || path.startsWith(`${OURS}_`))
    .map(({ path }) => path)
  const only = target(file)
  const chosen = own.length > 0 ? own : only === undefined ? [] : [only]
  if (chosen.length === 0)
    report.warn('there is no single OTLP exporter whose settings could be meant; name a dataset to add one for this deployment')
  for (const path of chosen) change(path)
  return chosen.length > 0
}

function addTraces(file: AlloyFile, report: ChangeReport): void {
  const receivers = file.blocks().filter(({ name }) => name === 'otelcol.receiver.otlp')
  const exporter = target(file)
  if (receivers.length === 0 || exporter === undefined) {
    report.warn('traces come in over OTLP: add that source to send them on')
    return
  }
  for (const { path } of receivers) file.add(path, ['output'], 'traces', `${exporter}.input`)
  report.done(
    'what comes in over OTLP as traces is sent on; spans go to the collection .traces, by the name of the service, unless a dataset is given',
  )
}

/** Ends the pipeline in a fork: a filter for each route, and one for the rest. */
function addRoutes(file: AlloyFile, requested: readonly Route[], report: ChangeReport): void {
  if (!file.find(OURS)) {
    report.warn('routes need an exporter to this deployment; name a dataset to add it')
    return
  }
  const headers = file.value(OURS, ['client'], 'headers') ?? ''
  const routes = routesWithCollection(requested, /"x-service-collection"\s*=\s*"([^"]*)"/.exec(headers)?.[1])
  const forks: { filter: string; text: string; exporter: string }[] = []
  for (const [index, { match, place }] of routes.entries()) {
    const label = file.freeLabel(EXPORTER, `dendro_${place.dataset.replaceAll(/\W+/g, '_')}`)
    copyExporter(file, label, place)
    const earlier = routes.slice(0, index).map((route) => matching(route.match))
    forks.push({
      filter: file.freeLabel('otelcol.processor.filter', `only_${label}`),
      text: filter([...earlier, `not ${matching(match)}`]),
      exporter: `${EXPORTER}.${label}`,
    })
    report.done(`lines that match ${match} go to ${targetText(place)} by ${EXPORTER}.${label}`)
  }
  forks.push({
    filter: file.freeLabel('otelcol.processor.filter', 'not_routed'),
    text: filter(routes.map(({ match }) => matching(match))),
    exporter: OURS,
  })
  file.redirect(`${OURS}.input`, forks.map((fork) => `otelcol.processor.filter.${fork.filter}.input`).join(', '))
  for (const fork of forks)
    file.append(
      `otelcol.processor.filter "${fork.filter}" {\n${fork.text}${output(`${fork.exporter}.input`)}}`,
      'lines of one kind go to a dataset of their own',
    )
}

/** Creates an exporter like ours with another destination. */
function copyExporter(file: AlloyFile, label: string, place: DatasetTarget): void {
  const ours = file.find(OURS)
  if (!ours) return
  file.append(`${EXPORTER} "${label}" ${file.text.slice(ours.open, ours.close + 1)}`)
  for (const [name, value] of Object.entries(routingHeaders(place, {}))) setHeader(file, `${EXPORTER}.${label}`, name, value)
}

function problems(file: AlloyFile): ConfigProblem[] {
  const found: ConfigProblem[] = []
  const blocks = file.blocks()
  const known = new Set(blocks.map(({ path }) => path))
  const seen = new Set<string>()
  for (const { name, label, path, line } of blocks) {
    if (!name.includes('.') && !SETTINGS.includes(name)) found.push({ line, message: `Alloy knows no block ${name}` })
    if (name.includes('.') && label === '' && !SETTINGS.includes(name) && !/exporter\.\w+$/.test(name))
      found.push({ line, message: `${name} has no label` })
    if (seen.has(path)) found.push({ line, message: `${path} stands twice` })
    seen.add(path)
  }
  const mask = file.mask
  const lineOf = lineFinder(mask)
  for (const match of mask.matchAll(
    /(?<![\w."])((?:otelcol|loki|local|discovery|prometheus)\.[\w.]+)\.(input|receiver|targets|content)\b/g,
  )) {
    const path = match[1] ?? ''
    if (!known.has(path)) found.push({ line: lineOf(match.index), message: `${path} is named and not there` })
  }
  for (const { path, line } of blocks.filter(({ name }) => name.startsWith('loki.source.')))
    if (file.value(path, [], 'forward_to') === undefined) found.push({ line, message: `${path} has no forward_to` })
  for (const { path, line } of blocks.filter(({ name }) => name === EXPORTER))
    if (file.value(path, ['client'], 'endpoint') === undefined) found.push({ line, message: `${path} has no endpoint` })
  if (blocks.length === 0) found.push({ message: 'Alloy needs at least one component' })
  return found
}
