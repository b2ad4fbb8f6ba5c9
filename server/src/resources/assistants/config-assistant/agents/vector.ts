import { type ConfigProblem, defineAgent, type OperationHandler } from '../agent.ts'
import { expressionFor, MASK } from '../expressions.ts'
import { KEY_HEADER, routingHeaders } from '../headers.ts'
import {
  type ChangeReport,
  type ConfigOperation,
  KEY_VARIABLE,
  placeAfter,
  placeIn,
  type ResolvedRoute,
  type Route,
  routesWithCollection,
  targetText,
  withDefaults,
} from '../operations.ts'
import { otlpOf, pathsOf, sourceText, syslogOf, unitsOf } from '../source-options.ts'
import { missing, unknownSections, YamlFile } from '../yaml-file.ts'
import { addNamed } from '../yaml-names.ts'

const NAME = 'Vector'
const OURS = 'dendro'
const SECTIONS = [
  'sources',
  'transforms',
  'sinks',
  'enrichment_tables',
  'tests',
  'secret',
  'provider',
  'schema',
  'log_schema',
  'api',
  'acknowledgements',
]
const SETTINGS = ['data_dir', 'timezone', 'proxy', 'expire_metrics', 'expire_metrics_secs', 'healthchecks', 'wildcard_matching', 'global']
const RETRY_MAX_SECONDS = 30

type HandlerOf<K extends ConfigOperation['kind']> = OperationHandler<YamlFile, K>

/** Writes YAML, which Vector accepts like TOML and which keeps comments when it is changed. */
export const vector = defineAgent<YamlFile>({
  agent: 'vector',
  displayName: NAME,
  format: 'yaml',
  sources: ['file', 'journald', 'syslog', 'docker', 'kubernetes', 'otlp'],
  versionMin: '0.34',
  needs:
    'a data_dir that vector may write to (/var/lib/vector unless the file says otherwise), and from 0.51 on the variable VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION=true, without which it reads no other variable',
  comment: '#',
  open: (text) => new YamlFile(text, NAME),
  write: String,
  problems,
  handlers: {
    send: (file, operation, report) => send(file, operation, report),
    source: (file, operation, report) => addSource(file, operation, report),
    parse: (file, { form }, report) => {
      const call = form === 'json' ? `object(parse_json(${MESSAGE}) ?? {}) ?? {}` : `parse_key_value(${MESSAGE}) ?? {}`
      addTransform(file, 'parse', remap(`parsed = ${call}\n. = merge(., parsed)`), `takes the keys of ${form} lines out`)
      report.done(`parse puts the keys of ${form} lines into the event; the line itself stays in message`)
    },
    redact: (file, { what }, report) => {
      const source = `.message = replace(${MESSAGE}, ${literal(expressionFor(what))}, "${MASK}")`
      const name = addTransform(file, 'redact', remap(`if is_string(.message) {\n  ${source}\n}`), `masks ${what} before it leaves`)
      report.done(
        `${name} replaces ${what} by *** in the line, before anything leaves the machine; keys that were taken out before are not looked at`,
      )
    },
    drop: (file, { match }, report) => {
      const name = addTransform(file, 'drop', { type: 'filter', condition: `!${lineMatches(match)}` }, 'leaves out what nobody reads')
      report.done(`${name} leaves out lines that match ${match}`)
    },
    sample: (file, { percent }, report) => {
      const rate = Math.max(1, Math.round(100 / percent))
      addTransform(file, 'sample', { type: 'sample', rate }, `keeps one of ${rate}`)
      report.done(`sample keeps one of ${rate} events`)
      if (100 % percent !== 0) report.warn(`Vector keeps one of a whole number: one of ${rate} is the nearest to ${percent} of a hundred`)
    },
    traces: (_, __, report) =>
      report.warn('Vector sends no traces over OTLP to this deployment; let the OpenTelemetry Collector or Alloy take them'),
    batch: (file, { size, seconds }, report) => {
      const set = (path: readonly string[]): void => {
        if (size !== undefined) file.set([...path, 'batch', 'max_events'], size)
        if (seconds !== undefined) file.set([...path, 'batch', 'timeout_secs'], seconds)
      }
      if (onSinks(file, report, set))
        report.done(
          `requests carry ${size === undefined ? 'batches' : `up to ${size} events`}${seconds === undefined ? '' : ` and wait ${seconds} s at most`}`,
        )
    },
    compress: (file, { by }, report) =>
      onSinks(file, report, (path) => file.set([...path, 'compression'], by)) && report.done(`requests are compressed by ${by}`),
    retry: (file, { seconds }, report) => setRetry(file, seconds, report),
    tls: (file, { tls }, report) => {
      const members = { ca_file: tls.ca_file, crt_file: tls.cert_file, key_file: tls.key_file, verify_certificate: tls.verify }
      const set = (path: readonly string[]): void => {
        for (const [name, value] of Object.entries(members)) if (value !== undefined) file.set([...path, 'tls', name], value)
      }
      if (onSinks(file, report, set)) report.done('the connection uses the TLS settings that were given')
    },
    routes: (file, { routes }, report) => addRoutes(file, routes, report),
  },
})

const MESSAGE = '(string(.message) ?? "")'
const remap = (source: string): object => ({ type: 'remap', source: escapeVariables(source) })
/** Escapes a text for a file in which $ begins a variable. */
const escapeVariables = (text: string): string => text.replaceAll('$', '$$$$')
const literal = (expression: string): string => `r'${expression.replaceAll("'", "\\'")}'`
const lineMatches = (expression: string): string => escapeVariables(`match(${MESSAGE}, ${literal(expression)})`)

const send: HandlerOf<'send'> = (file, { url, place, tags }, report) => {
  const isNew = file.isEmpty
  if (isNew) for (const section of ['sources', 'transforms', 'sinks']) file.set([section], {})
  const uri = uriFor(url, withDefaults(place))
  const headers = {
    [KEY_HEADER]: `\${${KEY_VARIABLE}}`,
    ...Object.fromEntries(
      Object.entries(routingHeaders({ collection: undefined, dataset: undefined }, tags)).map(([name, value]) => [
        name,
        escapeVariables(value),
      ]),
    ),
  }
  const [known] = ours(file)
  if (known !== undefined) {
    const target = placeAfter(place, placeIn(file.text(['sinks', known, 'uri']) ?? ''))
    file.set(['sinks', known, 'uri'], uriFor(url, target))
    for (const [name, value] of Object.entries(headers)) {
      const path = ['sinks', known, 'request', 'headers', name]
      if (name !== KEY_HEADER || !file.has(path)) file.set(path, value)
    }
    report.done(`${known} sent here already; its events now go to ${targetText(target)}`)
    return
  }
  const inputs = lastComponents(file)
  const sink = {
    type: 'http',
    inputs,
    uri,
    method: 'post',
    encoding: { codec: 'json' },
    framing: { method: 'newline_delimited' },
    compression: 'gzip',
    request: { headers },
  }
  file.set(['sinks', OURS], sink, `to this deployment, ${targetText(withDefaults(place))}`)
  file.listOnOneLine(['sinks', OURS, 'inputs'], inputs)
  report.done(`the sink ${OURS} sends to ${uri}; the key comes from the variable ${KEY_VARIABLE}, so that it stands in no file`)
}

const uriFor = (url: string, { collection, dataset }: { collection: string; dataset: string }): string =>
  escapeVariables(`${url}/ingest/${encodeURIComponent(collection)}/${encodeURIComponent(dataset)}`)

const ours = (file: YamlFile): string[] => file.keys(['sinks']).filter((name) => name === OURS || name.startsWith(`${OURS}_`))

/** The inputs of the sinks, or every component without a consumer. */
function lastComponents(file: YamlFile): string[] {
  const fed = file.keys(['sinks']).flatMap((name) => inputsOf(file, ['sinks', name]))
  if (fed.length > 0) return [...new Set(fed)]
  const all = [...file.keys(['sources']), ...file.keys(['transforms'])]
  const read = file.keys(['transforms']).flatMap((name) => inputsOf(file, ['transforms', name]))
  return all.filter((name) => !read.includes(name))
}

const inputsOf = (file: YamlFile, path: readonly string[]): string[] => file.texts([...path, 'inputs'])

const addSource: HandlerOf<'source'> = (file, { source, multiline, platform }, report) => {
  const { kind } = source
  const { port, protocol } = syslogOf(source)
  const { http, grpc, host } = otlpOf(source, platform)
  const units = unitsOf(source)
  const lines =
    multiline === undefined
      ? {}
      : {
          multiline: {
            start_pattern: escapeVariables(multiline),
            condition_pattern: escapeVariables(multiline),
            mode: 'halt_before',
            timeout_ms: 1_000,
          },
        }
  const sources = {
    file: ['files', { type: 'file', include: pathsOf(source, platform).map(escapeVariables), read_from: 'end', ...lines }],
    journald: ['journal', { type: 'journald', ...(units.length > 0 ? { include_units: units } : {}) }],
    syslog: ['syslog', { type: 'syslog', mode: protocol, address: `0.0.0.0:${port}` }],
    docker: ['docker', { type: 'docker_logs', ...(multiline === undefined ? {} : lines) }],
    kubernetes: ['kubernetes', { type: 'kubernetes_logs' }],
    otlp: ['otlp', { type: 'opentelemetry', grpc: { address: `${host}:${grpc}` }, http: { address: `${host}:${http}` } }],
  } satisfies Record<typeof kind, [string, object]>
  const [wanted, settings] = sources[kind]
  const first = firstTransform(file)
  const name = addNamed(file, ['sources'], wanted, settings, `reads ${sourceText(source, platform)}`)
  const output = kind === 'otlp' ? `${name}.logs` : name
  // New sources go through the existing transforms, like the others.
  const readers = first === undefined ? file.keys(['sinks']).filter((sink) => ours(file).length === 0 || ours(file).includes(sink)) : []
  if (first !== undefined) file.add(['transforms', first, 'inputs'], output)
  for (const sink of readers) file.add(['sinks', sink, 'inputs'], output)
  report.done(`${name} reads ${sourceText(source, platform)}`)
  if (multiline !== undefined && kind !== 'file' && kind !== 'docker')
    report.warn(`Vector puts lines together for files and Docker only, not for ${kind}`)
}

/** The first transform that reads from a source. */
const firstTransform = (file: YamlFile): string | undefined => {
  const sources = file.keys(['sources'])
  return file
    .keys(['transforms'])
    .find((name) => inputsOf(file, ['transforms', name]).some((input) => sources.includes(input.split('.')[0] ?? '')))
}

/** Inserts a transform before our sinks, or all sinks: one for all that have the same inputs. */
function addTransform(file: YamlFile, wanted: string, settings: object, comment: string): string {
  const sinks = (ours(file).length > 0 ? ours(file) : file.keys(['sinks'])).map((name) => ['sinks', name])
  const readers = [...new Map(sinks.map((path) => beforeRoute(file, path)).map((path) => [path.join('\n'), path])).values()]
  const groups = Map.groupBy(readers, (path) => JSON.stringify(inputsOf(file, path)))
  const names: string[] = []
  for (const group of groups.values()) {
    const inputs = group.flatMap((path) => inputsOf(file, path)).filter((input, index, all) => all.indexOf(input) === index)
    const name = addNamed(file, ['transforms'], wanted, { ...settings, inputs }, comment)
    file.listOnOneLine(['transforms', name, 'inputs'], inputs)
    for (const path of group) file.listOnOneLine([...path, 'inputs'], [name])
    names.push(name)
  }
  return names.join(' and ')
}

/** The inputs before a fork: a sink after a route gets the inputs of the route. */
function beforeRoute(file: YamlFile, path: readonly string[]): readonly string[] {
  const from = inputsOf(file, path).map((input) => ['transforms', input.split('.')[0] ?? ''])
  const route = from.find((one) => file.text([...one, 'type']) === 'route')
  return from.length === 1 && route ? route : path
}

function onSinks(file: YamlFile, report: ChangeReport, change: (path: readonly string[]) => void): boolean {
  const all = file.keys(['sinks']).filter((name) => file.text(['sinks', name, 'type']) === 'http')
  const chosen = ours(file).length > 0 ? ours(file) : all.length === 1 ? all : []
  if (chosen.length === 0)
    report.warn('there is no single HTTP sink whose settings could be meant; name a dataset to add one for this deployment')
  for (const name of chosen) change(['sinks', name])
  return chosen.length > 0
}

function setRetry(file: YamlFile, seconds: number, report: ChangeReport): void {
  // Delays grow up to half a minute, so this many retries fill the requested time.
  const attempts = Math.ceil(seconds / RETRY_MAX_SECONDS) + 4
  const set = (path: readonly string[]): void => {
    file.set([...path, 'request', 'retry_max_duration_secs'], RETRY_MAX_SECONDS)
    if (seconds > 0) file.set([...path, 'request', 'retry_attempts'], attempts)
    file.set([...path, 'buffer'], { type: 'memory', max_events: 10_000, when_full: 'block' })
  }
  if (!onSinks(file, report, set)) return
  report.done(
    seconds === 0
      ? 'a batch is tried again until it gets through, and sources wait meanwhile'
      : `a batch is tried again ${attempts} times, which takes about ${seconds} s`,
  )
}

function addRoutes(file: YamlFile, requested: readonly Route[], report: ChangeReport): void {
  const [known] = ours(file)
  if (known === undefined) {
    report.warn('routes need a sink to this deployment; name a dataset to add it')
    return
  }
  const settings = file.value(['sinks', known]) as Record<string, unknown>
  const url = String(settings.uri).replace(/\/ingest\/.*$/, '')
  const routes = routesWithCollection(requested, placeIn(String(settings.uri)).collection)
  const label = ({ place }: ResolvedRoute): string => place.dataset.replaceAll(/\W+/g, '_')
  // A route takes an event once: later routes exclude the matches of earlier ones.
  const route = Object.fromEntries(
    routes.map((one, index) => [
      label(one),
      [lineMatches(one.match), ...routes.slice(0, index).map((earlier) => `!${lineMatches(earlier.match)}`)].join(' && '),
    ]),
  )
  const name = addTransform(file, 'route', { type: 'route', route }, 'lines of one kind go to a dataset of their own')
  file.listOnOneLine(['sinks', known, 'inputs'], [`${name}._unmatched`])
  for (const one of routes) {
    const sink = addNamed(file, ['sinks'], `${OURS}_${label(one)}`, { ...settings, uri: `${url}${uriFor('', one.place)}` })
    file.listOnOneLine(['sinks', sink, 'inputs'], [`${name}.${label(one)}`])
    report.done(`lines that match ${one.match} go to ${targetText(one.place)} by the sink ${sink}`)
  }
}

function problems(file: YamlFile): ConfigProblem[] {
  const found = [...missing(file, ['sources'], NAME), ...missing(file, ['sinks'], NAME)]
  const at = (path: readonly string[]): { line?: number } => {
    const line = file.line(path)
    return line === undefined ? {} : { line }
  }
  for (const name of unknownSections(file, [...SECTIONS, ...SETTINGS]))
    found.push({ ...at([name]), message: `Vector knows no section ${name}` })
  const components = [...file.keys(['sources']), ...file.keys(['transforms'])]
  for (const section of ['sources', 'transforms', 'sinks']) {
    for (const name of file.keys([section])) {
      const path = [section, name]
      if (!file.has([...path, 'type'])) found.push({ ...at(path), message: `${section}.${name} has no type` })
      if (section === 'sources') continue
      const inputs = inputsOf(file, path)
      if (inputs.length === 0) found.push({ ...at(path), message: `${section}.${name} has no inputs` })
      // A name with a star matches several; a named output of a component follows a dot.
      for (const input of inputs.filter(
        (one) => !one.includes('*') && !components.includes(one) && !components.includes(one.split('.')[0] ?? ''),
      ))
        found.push({ ...at(path), message: `${section}.${name} reads from ${input}, which is not there` })
      if (file.text([...path, 'type']) === 'http' && !file.has([...path, 'uri']))
        found.push({ ...at(path), message: `the HTTP sink ${name} has no uri` })
    }
  }
  return found
}
