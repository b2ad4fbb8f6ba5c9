import { type ConfigProblem, defineAgent, type OperationHandler } from '../agent.ts'
import { expressionFor } from '../expressions.ts'
import { KEY_HEADER, routingHeaders } from '../headers.ts'
import { type ChangeReport, type ConfigOperation, KEY_VARIABLE, type Route, routesWithCollection, targetText } from '../operations.ts'
import { matching, parsing, redacting, sampling } from '../ottl.ts'
import { otlpOf, pathsOf, sourceText, syslogOf, unitsOf } from '../source-options.ts'
import { missing, unknownSections, YamlFile } from '../yaml-file.ts'
import { addNamed, freeName } from '../yaml-names.ts'

const NAME = 'OpenTelemetry Collector'
const OURS = 'otlphttp/dendro'
const SECTIONS = ['receivers', 'processors', 'exporters', 'connectors', 'extensions', 'service']
const PIPELINES = ['service', 'pipelines']

type HandlerOf<K extends ConfigOperation['kind']> = OperationHandler<YamlFile, K>

/** Writes for the contrib distribution, which has the receivers for files, journals and syslog. */
export const otelCollector = defineAgent<YamlFile>({
  agent: 'otel-collector',
  displayName: NAME,
  format: 'yaml',
  sources: ['file', 'journald', 'syslog', 'docker', 'kubernetes', 'otlp'],
  versionMin: '0.110',
  needs: 'the contrib distribution of the collector',
  comment: '#',
  open: (text) => new YamlFile(text, NAME),
  write: String,
  problems,
  handlers: {
    send: (file, operation, report) => send(file, operation, report),
    source: (file, operation, report) => addSource(file, operation, report),
    parse: (file, { form }, report) => {
      addProcessor(file, 'transform/parse', transform([parsing(form)]), `takes the keys of ${form} lines out`)
      report.done(`transform/parse makes attributes of the keys of ${form} lines; the line itself stays as it is`)
    },
    redact: (file, { what }, report) => {
      const name = addProcessor(file, 'transform/redact', transform(redacting(expressionFor(what))), `masks ${what} before it leaves`)
      report.done(`${name} replaces ${what} by *** in lines and attributes, before anything leaves the machine`)
    },
    drop: (file, { match }, report) => {
      const name = addProcessor(file, 'filter/drop', filter([matching(match)]), 'leaves out what nobody reads')
      report.done(`${name} leaves out lines that match ${match}`)
    },
    sample: (file, { percent }, report) => {
      addProcessor(file, 'filter/sample', filter([sampling(percent)]), `keeps ${percent} of a hundred, by chance`)
      report.done(`filter/sample keeps ${percent} of a hundred records by chance; it needs no trace id, which most logs lack`)
    },
    traces: (file, _, report) => addTraces(file, report),
    batch: (file, operation, report) => setBatch(file, operation, report),
    compress: (file, { by }, report) =>
      onExporters(file, report, (path) => file.set([...path, 'compression'], by)) && report.done(`requests are compressed by ${by}`),
    retry: (file, { seconds }, report) => setRetry(file, seconds, report),
    tls: (file, { tls }, report) => {
      const members = {
        ca_file: tls.ca_file,
        cert_file: tls.cert_file,
        key_file: tls.key_file,
        insecure_skip_verify: tls.verify === false || undefined,
      }
      const set = (path: readonly string[]): void => {
        for (const [name, value] of Object.entries(members)) if (value !== undefined) file.set([...path, 'tls', name], value)
      }
      if (onExporters(file, report, set)) report.done('the connection uses the TLS settings that were given')
    },
    routes: (file, { routes }, report) => addRoutes(file, routes, report),
  },
})

/** Escapes a value for the collector, in which $ begins a variable. */
const escapeVariables = (text: string): string => text.replaceAll('$', '$$$$')
const transform = (statements: readonly string[]): object => ({
  error_mode: 'ignore',
  log_statements: [{ context: 'log', statements: statements.map(escapeVariables) }],
})
const filter = (conditions: readonly string[]): object => ({ error_mode: 'ignore', logs: { log_record: conditions.map(escapeVariables) } })

const logPipelines = (file: YamlFile): string[] => file.keys(PIPELINES).filter((name) => /^logs(\/|$)/.test(name))

const send: HandlerOf<'send'> = (file, { url, place, tags }, report) => {
  const isNew = file.isEmpty
  const [known] = ours(file)
  const headers = { [KEY_HEADER]: `\${env:${KEY_VARIABLE}}`, ...escapeAllVariables(routingHeaders(place, tags)) }
  if (isNew) for (const section of ['receivers', 'processors', 'exporters', 'service']) file.set([section], {})
  if (known !== undefined) {
    for (const [name, value] of Object.entries(headers)) {
      const path = ['exporters', known, 'headers', name]
      if (name !== KEY_HEADER || !file.has(path)) file.set(path, value)
    }
    const named = (part: string): string | undefined => file.text(['exporters', known, 'headers', `x-service-${part}`])
    report.done(
      `${known} sent here already; its events now go to ${targetText({ collection: named('collection'), dataset: named('dataset') })}`,
    )
    return
  }
  file.set(['exporters', OURS], { endpoint: url, headers, compression: 'gzip' }, `to this deployment, ${targetText(place)}`)
  if (logPipelines(file).length === 0) {
    for (const part of ['receivers', 'processors']) file.listOnOneLine([...PIPELINES, 'logs', part], [])
    file.listOnOneLine([...PIPELINES, 'logs', 'exporters'], [OURS])
  } else for (const name of logPipelines(file)) file.add([...PIPELINES, name, 'exporters'], OURS)
  report.done(
    `${OURS} sends to ${url}, ${targetText(place)}; the key comes from the variable ${KEY_VARIABLE}, so that it stands in no file`,
  )
}

const escapeAllVariables = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, escapeVariables(value)]))

/** The exporters that send to this deployment; files written here keep the name. */
const ours = (file: YamlFile): string[] => file.keys(['exporters']).filter((name) => name === OURS || name.startsWith(`${OURS}_`))

/** Changes our exporters, or the only one; with several others it is unclear which one is meant. */
function onExporters(file: YamlFile, report: ChangeReport, change: (path: readonly string[]) => void): boolean {
  const all = file.keys(['exporters']).filter((name) => /^otlp/.test(name))
  const chosen = ours(file).length > 0 ? ours(file) : all.length === 1 ? all : []
  if (chosen.length === 0)
    report.warn('there is no single OTLP exporter whose settings could be meant; name a dataset to add one for this deployment')
  for (const name of chosen) change(['exporters', name])
  return chosen.length > 0
}

const addSource: HandlerOf<'source'> = (file, { source, multiline, platform }, report) => {
  const { kind } = source
  const lines = multiline === undefined ? {} : { multiline: { line_start_pattern: escapeVariables(multiline) } }
  // The lines of containers carry a frame: they are put together once it is off.
  const recombine = {
    type: 'recombine',
    combine_field: 'body',
    is_first_entry: `body matches ${JSON.stringify(escapeVariables(multiline ?? ''))}`,
    source_identifier: 'attributes["log.file.path"]',
  }
  const container = {
    operators: [{ type: 'container' }, ...(multiline === undefined ? [] : [recombine])],
    include_file_path: true,
    start_at: 'end',
  }
  const { port, protocol } = syslogOf(source)
  const { http, grpc, host } = otlpOf(source, platform)
  const units = unitsOf(source)
  const receivers = {
    file: [
      'filelog/files',
      { include: pathsOf(source, platform).map(escapeVariables), include_file_path: true, start_at: 'end', ...lines },
    ],
    journald: ['journald', { start_at: 'end', ...(units.length > 0 ? { units } : {}) }],
    syslog: ['syslog', { [protocol]: { listen_address: `0.0.0.0:${port}` }, protocol: 'rfc5424' }],
    docker: ['filelog/docker', { include: ['/var/lib/docker/containers/*/*-json.log'], ...container }],
    kubernetes: [
      'filelog/kubernetes',
      { include: ['/var/log/pods/*/*/*.log'], exclude: ['/var/log/pods/*/otel-collector/*.log'], ...container },
    ],
    otlp: ['otlp', { protocols: { grpc: { endpoint: `${host}:${grpc}` }, http: { endpoint: `${host}:${http}` } } }],
  } satisfies Record<typeof kind, [string, object]>
  const [wanted, settings] = receivers[kind]
  const name = addNamed(file, ['receivers'], wanted, settings, `reads ${sourceText(source, platform)}`)
  const [pipeline = 'logs'] = logPipelines(file)
  file.add([...PIPELINES, pipeline, 'receivers'], name)
  report.done(`${name} reads ${sourceText(source, platform)}`)
  if (kind === 'syslog') report.done('the syslog receiver reads RFC 5424; set protocol to rfc3164 for older senders')
  if (multiline !== undefined && (kind === 'journald' || kind === 'syslog' || kind === 'otlp')) {
    report.warn(`events of ${kind} come one by one: multiline does not apply to them`)
  }
}

/** Adds a processor to every pipeline for logs, before batching. */
function addProcessor(file: YamlFile, wanted: string, settings: object, comment: string): string {
  const name = addNamed(file, ['processors'], wanted, settings, comment)
  for (const pipeline of logPipelines(file)) insertProcessor(file, pipeline, name)
  return name
}

function insertProcessor(file: YamlFile, pipeline: string, name: string): void {
  const path = [...PIPELINES, pipeline, 'processors']
  const batch = file.texts(path).findIndex((other) => /^batch(\/|$)/.test(other))
  file.add(path, name, batch < 0 ? {} : { before: batch })
}

const setBatch: HandlerOf<'batch'> = (file, { size, seconds }, report) => {
  const found = file.keys(['processors']).find((name) => /^batch(\/|$)/.test(name))
  const traces = [...PIPELINES, 'traces']
  const name = found ?? addProcessor(file, 'batch', {}, 'few large requests instead of many small ones')
  if (found === undefined && file.has(traces)) file.add([...traces, 'processors'], name)
  // A maximum below the size would prevent the collector from starting.
  if (size !== undefined) file.set(['processors', name, 'send_batch_size'], size)
  if (size !== undefined) file.set(['processors', name, 'send_batch_max_size'], size)
  if (seconds !== undefined) file.set(['processors', name, 'timeout'], `${seconds}s`)
  const what = [size === undefined ? '' : `of ${size} records`, seconds === undefined ? '' : `after ${seconds} s at the latest`].filter(
    Boolean,
  )
  report.done(`${name} sends batches ${what.join(', ')}`)
}

function setRetry(file: YamlFile, seconds: number, report: ChangeReport): void {
  const set = (path: readonly string[]): void => {
    file.set([...path, 'retry_on_failure', 'enabled'], true)
    file.set([...path, 'retry_on_failure', 'max_elapsed_time'], `${seconds}s`)
  }
  if (onExporters(file, report, set)) {
    report.done(seconds === 0 ? 'a batch is tried again until it gets through' : `a batch is tried again for ${seconds} s`)
  }
}

function addTraces(file: YamlFile, report: ChangeReport): void {
  const receivers = file.keys(['receivers']).filter((name) => /^otlp(\/|$)/.test(name))
  const [exporter] = [...ours(file), ...file.keys(['exporters']).filter((name) => /^otlp/.test(name))]
  if (receivers.length === 0 || exporter === undefined) {
    report.warn('traces come in over OTLP: add that source to send them on')
    return
  }
  if (file.has([...PIPELINES, 'traces'])) {
    file.add([...PIPELINES, 'traces', 'exporters'], exporter)
  } else {
    file.listOnOneLine([...PIPELINES, 'traces', 'receivers'], receivers)
    file.listOnOneLine([...PIPELINES, 'traces', 'processors'], [])
    file.listOnOneLine([...PIPELINES, 'traces', 'exporters'], [exporter])
  }
  report.done(
    'the pipeline traces sends on what comes in over OTLP; spans go to the collection .traces, by the name of the service, unless a dataset is given',
  )
}

/** Gives each route a pipeline and an exporter; a filter at its end selects the matching events. */
function addRoutes(file: YamlFile, requested: readonly Route[], report: ChangeReport): void {
  const [known] = ours(file)
  const [main] = logPipelines(file)
  if (known === undefined || main === undefined) {
    report.warn('routes need an exporter to this deployment; name a dataset to add it')
    return
  }
  const settings = file.value(['exporters', known]) as { headers?: Record<string, string> }
  const routes = routesWithCollection(requested, settings.headers?.['x-service-collection'])
  const { receivers = [], processors = [] } = Object.fromEntries(
    ['receivers', 'processors'].map((part) => [part, file.texts([...PIPELINES, main, part])]),
  )
  for (const [index, { match, place }] of routes.entries()) {
    const earlier = routes.slice(0, index).map((route) => matching(route.match))
    const label = place.dataset.replaceAll(/[^\w.-]+/g, '_')
    const exporter = addNamed(file, ['exporters'], `${OURS}_${label}`, {
      ...settings,
      headers: { ...settings.headers, ...escapeAllVariables(routingHeaders(place, {})) },
    })
    const only = addNamed(
      file,
      ['processors'],
      `filter/only_${label}`,
      filter([...earlier, `not ${matching(match)}`]),
      `leaves what goes to ${place.dataset}`,
    )
    const pipeline = freeName(file.keys(PIPELINES), `logs/${label}`)
    file.listOnOneLine([...PIPELINES, pipeline, 'receivers'], receivers)
    file.listOnOneLine([...PIPELINES, pipeline, 'processors'], processors)
    insertProcessor(file, pipeline, only)
    file.listOnOneLine([...PIPELINES, pipeline, 'exporters'], [exporter])
    report.done(`lines that match ${match} go through the pipeline ${pipeline} to ${targetText(place)}`)
  }
  const rest = addNamed(
    file,
    ['processors'],
    'filter/not_routed',
    filter(routes.map((route) => matching(route.match))),
    'leaves what no route took',
  )
  insertProcessor(file, main, rest)
}

function problems(file: YamlFile): ConfigProblem[] {
  const found = [...missing(file, ['receivers'], NAME), ...missing(file, ['exporters'], NAME), ...missing(file, PIPELINES, NAME)]
  for (const section of unknownSections(file, SECTIONS)) {
    found.push({ ...lineOf(file, [section]), message: `the collector knows no section ${section}` })
  }
  for (const pipeline of file.keys(PIPELINES)) {
    for (const part of ['receivers', 'processors', 'exporters']) {
      const names = file.texts([...PIPELINES, pipeline, part])
      const path = [...PIPELINES, pipeline, part]
      if (names.length === 0 && part !== 'processors')
        found.push({ ...lineOf(file, path), message: `the pipeline ${pipeline} has no ${part}` })
      const known = [...file.keys([part]), ...(part === 'processors' ? [] : file.keys(['connectors']))]
      for (const name of names.filter((one) => !known.includes(one)))
        found.push({ ...lineOf(file, path), message: `the pipeline ${pipeline} names ${name}, which is not among the ${part}` })
    }
  }
  for (const name of file.keys(['exporters']).filter((one) => /^otlp(http)?(\/|$)/.test(one))) {
    const path = ['exporters', name]
    if (!['endpoint', 'logs_endpoint', 'traces_endpoint'].some((member) => file.has([...path, member])))
      found.push({ ...lineOf(file, path), message: `the exporter ${name} has no endpoint` })
  }
  return found
}

const lineOf = (file: YamlFile, path: readonly string[]): { line?: number } => {
  const line = file.line(path)
  return line === undefined ? {} : { line }
}
