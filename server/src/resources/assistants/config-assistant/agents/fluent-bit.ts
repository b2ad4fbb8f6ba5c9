import { type ConfigProblem, defineAgent, type OperationHandler, UnreadableConfig } from '../agent.ts'
import { expressionFor, isNamed, MASK } from '../expressions.ts'
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
import { freeName } from '../yaml-names.ts'

const NAME = 'Fluent Bit'
const SECTIONS = [
  'service',
  'env',
  'includes',
  'parsers',
  'multiline_parsers',
  'plugins',
  'upstream_servers',
  'pipeline',
  'customs',
  'stream_processor',
]
const [INPUTS, FILTERS, OUTPUTS] = ['inputs', 'filters', 'outputs'].map((part) => ['pipeline', part]) as [string[], string[], string[]]
const INGEST = '/ingest/'
const RETRY_SECONDS = 30
const UNROUTED = '^(?!route[.])'
/** Named patterns as Lua patterns, which are not regular expressions. */
const NAMED: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    email: '[%w._%%+-]+@[%w.-]+%.%a%a+',
    card: '%d%d%d%d[ -]?%d%d%d%d[ -]?%d%d%d%d[ -]?%d+',
    ip: '%d+%.%d+%.%d+%.%d+',
    token: 'B[ea][as][ri][ec]r? [%w._~+/=-]+',
  }),
)

type HandlerOf<K extends ConfigOperation['kind']> = OperationHandler<YamlFile, K>

/** Writes the YAML form; the text of an event is under `log`, whatever the source. */
export const fluentBit = defineAgent<YamlFile>({
  agent: 'fluent-bit',
  displayName: NAME,
  format: 'yaml',
  sources: ['file', 'journald', 'syslog', 'docker', 'kubernetes', 'otlp'],
  versionMin: '3.2',
  needs: 'a file name that ends in .yaml, by which Fluent Bit tells this form from the classic one',
  comment: '#',
  open: (text) => new YamlFile(yamlOnly(text), NAME),
  write: String,
  problems,
  handlers: {
    send: (file, operation, report) => send(file, operation, report),
    source: (file, operation, report) => addSource(file, operation, report),
    parse: (file, { form }, report) => {
      const name = freeName(parserNames(file), form)
      file.add(['parsers'], { name, format: form })
      const filter = { name: 'parser', match: '*', key_name: 'log', parser: name, reserve_data: true, preserve_key: true }
      file.add(FILTERS, filter, { comment: `takes the keys of ${form} lines out` })
      report.done(`a parser takes the keys of ${form} lines out; the line itself stays as it is`)
    },
    redact: (file, { what }, report) => redact(file, what, report),
    drop: (file, { match }, report) => {
      file.add(FILTERS, { name: 'grep', match: '*', exclude: `log ${expressionFor(match)}` }, { comment: 'leaves out what nobody reads' })
      report.done(`grep leaves out lines that match ${match}`)
    },
    sample: (file, { percent }, report) => {
      const code = `math.randomseed(os.time())\nfunction sample(tag, timestamp, record)\n  if math.random() >= ${percent / 100} then return -1 end\n  return 0, timestamp, record\nend\n`
      file.add(FILTERS, { name: 'lua', match: '*', call: 'sample', code }, { comment: `keeps ${percent} of a hundred, by chance` })
      report.done(`a Lua function keeps ${percent} of a hundred events by chance; Fluent Bit has no filter of that kind for logs`)
    },
    traces: (_, __, report) => report.warn('this file sends logs by HTTP; let the OpenTelemetry Collector or Alloy take traces'),
    batch: (file, { size, seconds }, report) => {
      if (seconds !== undefined) {
        file.set(['service', 'flush'], seconds)
        report.done(`what was gathered is sent every ${seconds} s`)
      }
      if (size !== undefined && size !== 1_000)
        report.warn('Fluent Bit sends what it gathered between two flushes: the size of a batch cannot be set')
    },
    compress: (file, { by }, report) => {
      if (by === 'zstd') report.warn('the HTTP output compresses by zstd in some builds of Fluent Bit only; nothing was changed')
      else if (by === 'none') {
        report.warn('leave the line compress out of the output to send without compression; nothing was changed')
      } else if (onOutputs(file, report, (path) => file.set([...path, 'compress'], by))) report.done(`requests are compressed by ${by}`)
    },
    retry: (file, { seconds }, report) => {
      const limit = seconds === 0 ? 'no_limits' : Math.max(1, Math.ceil(seconds / RETRY_SECONDS))
      if (!onOutputs(file, report, (path) => file.set([...path, 'retry_limit'], limit))) return
      file.set(['service', 'scheduler.cap'], RETRY_SECONDS)
      report.done(
        seconds === 0
          ? 'a batch is tried again until it gets through'
          : `a batch is tried again ${limit} times, at most ${RETRY_SECONDS} s apart`,
      )
    },
    tls: (file, { tls }, report) => {
      const members = { 'tls.ca_file': tls.ca_file, 'tls.crt_file': tls.cert_file, 'tls.key_file': tls.key_file, 'tls.verify': tls.verify }
      const set = (path: readonly (string | number)[]): void => {
        for (const [name, value] of Object.entries(members)) if (value !== undefined) file.set([...path, name], value)
      }
      if (onOutputs(file, report, set)) report.done('the connection uses the TLS settings that were given')
    },
    routes: (file, { routes }, report) => addRoutes(file, routes, report),
  },
})

/** Rejects files in the classic form, naming the supported one. */
function yamlOnly(text: string): string {
  if (!/^\s*\[(SERVICE|INPUT|FILTER|OUTPUT|PARSER)\]/im.test(text)) return text
  throw new UnreadableConfig([{ line: 1, message: 'this is the classic form of Fluent Bit, and only its YAML form is read here' }])
}

const textOf = (file: YamlFile, path: readonly (string | number)[], name: string): string | undefined => {
  const key = file.keys(path).find((one) => one.toLowerCase() === name)
  return key === undefined ? undefined : file.text([...path, key])
}

const itemsOf = (file: YamlFile, path: readonly string[]): (string | number)[][] =>
  Array.from({ length: file.length(path) ?? 0 }, (_, index) => [...path, index])

const parserNames = (file: YamlFile): string[] => itemsOf(file, ['parsers']).flatMap((path) => textOf(file, path, 'name') ?? [])

/** The outputs that send to the service's own path. */
const ours = (file: YamlFile): (string | number)[][] =>
  itemsOf(file, OUTPUTS).filter((path) => textOf(file, path, 'name') === 'http' && textOf(file, path, 'uri')?.startsWith(INGEST))

function onOutputs(file: YamlFile, report: ChangeReport, change: (path: readonly (string | number)[]) => void): boolean {
  const chosen = ours(file)
  if (chosen.length === 0) report.warn('there is no output to this deployment whose settings could be meant; name a dataset to add one')
  for (const path of chosen) change(path)
  return chosen.length > 0
}

const uriFor = ({ collection, dataset }: { collection: string; dataset: string }): string =>
  `${INGEST}${encodeURIComponent(collection)}/${encodeURIComponent(dataset)}`

const send: HandlerOf<'send'> = (file, { url, place, tags }, report) => {
  const isNew = file.isEmpty
  const { protocol, hostname, port } = new URL(url)
  const isSecure = protocol === 'https:'
  if (isNew) {
    file.set(['service'], { flush: 1, log_level: 'info', 'storage.path': '/var/lib/fluent-bit/buffer' })
    file.set(['pipeline'], {})
    for (const part of [INPUTS, FILTERS, OUTPUTS]) file.set(part, [])
    file.add(
      FILTERS,
      { name: 'modify', match: '*', rename: ['MESSAGE log', 'message log'] },
      { comment: 'the text of an event is under log, whatever it was read from' },
    )
  }
  const headers = [`${KEY_HEADER} \${${KEY_VARIABLE}}`, ...tagHeaders(tags)]
  const [known] = ours(file)
  if (known) {
    const target = placeAfter(place, placeIn(file.text([...known, 'uri']) ?? ''))
    file.set([...known, 'uri'], uriFor(target))
    setHeaders(file, [...known, 'header'], headers)
    report.done(`the output sent here already; its events now go to ${targetText(target)}`)
    return
  }
  const output = {
    name: 'http',
    match: '*',
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (isSecure ? 443 : 80),
    uri: uriFor(withDefaults(place)),
    format: 'json_lines',
    json_date_key: '@timestamp',
    json_date_format: 'iso8601',
    compress: 'gzip',
    header: headers,
    ...(isSecure ? { tls: true } : {}),
  }
  file.add(OUTPUTS, output, { comment: `to this deployment, ${targetText(withDefaults(place))}` })
  report.done(
    `an HTTP output sends to ${url}, ${targetText(withDefaults(place))}; the key comes from the variable ${KEY_VARIABLE}, so that it stands in no file`,
  )
}

const tagHeaders = (tags: Readonly<Record<string, string>>): string[] =>
  Object.entries(routingHeaders({ collection: undefined, dataset: undefined }, tags)).map(([name, value]) => `${name} ${value}`)

/** Sets the tags, and the key if there is none; other headers stay. */
function setHeaders(file: YamlFile, path: readonly (string | number)[], headers: readonly string[]): void {
  const before = file.texts(path)
  const nameOf = (header: string): string => header.trim().split(/\s/)[0]?.toLowerCase() ?? ''
  const isThere = (name: string, some: readonly string[]): boolean => some.some((header) => nameOf(header) === name)
  const after = headers.filter((header) => nameOf(header) !== KEY_HEADER || !isThere(KEY_HEADER, before))
  const kept = before.filter((header) => !isThere(nameOf(header), after))
  if (after.length > 0) file.set(path, [...kept, ...after])
}

const addSource: HandlerOf<'source'> = (file, { source, multiline, platform }, report) => {
  const { kind } = source
  const { port, protocol } = syslogOf(source)
  const { http, host } = otlpOf(source, platform)
  const own =
    multiline !== undefined && (kind === 'file' || kind === 'docker' || kind === 'kubernetes') ? addMultiline(file, multiline) : undefined
  // Each input keeps its file positions in a database of its own.
  const taken = itemsOf(file, INPUTS).flatMap((path) => textOf(file, path, 'db') ?? [])
  const tail = {
    db: `/var/lib/fluent-bit/${kind}${taken.length === 0 ? '' : `-${taken.length + 1}`}.db`,
    'storage.type': 'filesystem',
    ...(kind === 'file' && own !== undefined ? { 'multiline.parser': own } : {}),
  }
  const units = unitsOf(source)
  const inputs = {
    file: { name: 'tail', tag: 'files', path: pathsOf(source, platform).join(','), path_key: 'file', ...tail },
    journald: {
      name: 'systemd',
      tag: 'journal',
      db: tail.db,
      read_from_tail: true,
      ...(units.length > 0 ? { systemd_filter: units.map((unit) => `_SYSTEMD_UNIT=${unit}`) } : {}),
    },
    syslog: { name: 'syslog', tag: 'syslog', mode: protocol, listen: '0.0.0.0', port, parser: 'syslog-rfc5424' },
    docker: { name: 'tail', tag: 'docker.*', path: '/var/lib/docker/containers/*/*-json.log', 'multiline.parser': 'docker', ...tail },
    kubernetes: { name: 'tail', tag: 'kube.*', path: '/var/log/containers/*.log', 'multiline.parser': 'docker, cri', ...tail },
    otlp: { name: 'opentelemetry', tag: 'otlp', listen: host, port: http },
  } satisfies Record<typeof kind, object>
  file.add(INPUTS, inputs[kind], { comment: `reads ${sourceText(source, platform)}` })
  if (kind === 'syslog') addSyslogParser(file)
  if (kind === 'kubernetes')
    file.add(FILTERS, { name: 'kubernetes', match: 'kube.*', merge_log: false }, { comment: 'names pods, namespaces and labels' })
  if (own !== undefined && kind !== 'file') {
    file.add(
      FILTERS,
      { name: 'multiline', match: inputs[kind].tag, 'multiline.key_content': 'log', 'multiline.parser': own },
      { comment: 'puts the lines of one event together' },
    )
  }
  report.done(`the input ${inputs[kind].name} reads ${sourceText(source, platform)}`)
  if (kind === 'otlp') report.done(`Fluent Bit takes OTLP over HTTP at port ${http}, and no gRPC beside it`)
  if (multiline !== undefined && own === undefined) report.warn(`events of ${kind} come one by one: multiline does not apply to them`)
}

function addSyslogParser(file: YamlFile): void {
  if (parserNames(file).includes('syslog-rfc5424')) return
  const regex =
    '^<(?<pri>[0-9]{1,5})>1 (?<time>[^ ]+) (?<host>[^ ]+) (?<ident>[^ ]+) (?<pid>[-0-9]+) (?<msgid>[^ ]+) (?<extradata>(\\[(.*)\\]|-)) (?<message>.+)$'
  file.add(['parsers'], {
    name: 'syslog-rfc5424',
    format: 'regex',
    regex,
    time_key: 'time',
    time_format: '%Y-%m-%dT%H:%M:%S.%L%z',
    time_keep: true,
  })
}

function addMultiline(file: YamlFile, first: string): string {
  const taken = itemsOf(file, ['multiline_parsers']).flatMap((path) => textOf(file, path, 'name') ?? [])
  const known = itemsOf(file, ['multiline_parsers']).find((path) => file.text([...path, 'rules', 0, 'regex']) === `/${first}/`)
  if (known) return textOf(file, known, 'name') ?? ''
  const name = freeName(taken, 'events')
  const rules = [
    { state: 'start_state', regex: `/${first}/`, next_state: 'more' },
    { state: 'more', regex: `/^(?!.*(?:${first})).*/`, next_state: 'more' },
  ]
  file.add(['multiline_parsers'], { name, type: 'regex', flush_timeout: 1_000, rules })
  return name
}

function redact(file: YamlFile, what: string, report: ChangeReport): void {
  const pattern = isNamed(what) ? NAMED.get(what) : undefined
  if (pattern === undefined) {
    report.warn(
      `Fluent Bit cannot replace by a regular expression: ${what} is not redacted. It can mask email, card, ip and token; a parser of the service can do the rest`,
    )
    return
  }
  const call = `redact_${what}`
  const code = `function ${call}(tag, timestamp, record)\n  local text = record["log"]\n  if type(text) ~= "string" then return 0, timestamp, record end\n  record["log"] = string.gsub(text, "${pattern}", "${MASK}")\n  return 2, timestamp, record\nend\n`
  file.add(FILTERS, { name: 'lua', match: '*', call, code }, { comment: `masks ${what} before it leaves` })
  report.done(
    `a Lua function replaces ${what} by *** in the line, before anything leaves the machine; keys that were taken out before are not looked at`,
  )
}

/** Gives matching events a tag of their own, and each tag an output. */
function addRoutes(file: YamlFile, requested: readonly Route[], report: ChangeReport): void {
  const [known] = ours(file)
  if (!known) {
    report.warn('routes need an output to this deployment; name a dataset to add it')
    return
  }
  const settings = file.value(known) as Record<string, unknown>
  const routes = routesWithCollection(requested, placeIn(String(settings.uri)).collection)
  const label = ({ place }: ResolvedRoute): string => `route.${place.dataset.replaceAll(/[^\w-]+/g, '_')}`
  // Match only tags of inputs: a rewritten tag must not be rewritten again.
  const rule = routes.map((route) => `$log ${route.match.replaceAll(' ', '\\s')} ${label(route)} false`)
  file.add(
    FILTERS,
    { name: 'rewrite_tag', match_regex: '^(?!route[.])', rule },
    { comment: 'lines of one kind go to a dataset of their own' },
  )
  // Events with a new tag pass the filters again from the first one; earlier filters must not apply twice.
  for (const path of [...itemsOf(file, FILTERS).slice(0, -1), known]) if (textOf(file, path, 'match') === '*') onlyUnrouted(file, path)
  for (const route of routes) {
    const { match: _, Match: __, match_regex: ___, ...rest } = settings
    file.add(OUTPUTS, { ...rest, match: label(route), uri: uriFor(route.place) })
    report.done(`lines that match ${route.match} get the tag ${label(route)} and go to ${targetText(route.place)}`)
  }
}

function onlyUnrouted(file: YamlFile, path: readonly (string | number)[]): void {
  for (const key of file.keys(path).filter((one) => one.toLowerCase() === 'match')) file.remove([...path, key])
  file.set([...path, 'match_regex'], UNROUTED)
}

function problems(file: YamlFile): ConfigProblem[] {
  const found = [...missing(file, ['pipeline'], NAME)]
  const at = (path: readonly (string | number)[]): { line?: number } => {
    const line = file.line(path)
    return line === undefined ? {} : { line }
  }
  for (const name of unknownSections(file, SECTIONS)) found.push({ ...at([name]), message: `Fluent Bit knows no section ${name}` })
  for (const path of [INPUTS, OUTPUTS])
    if (!file.length(path)) found.push({ ...at(path), message: `Fluent Bit needs at least one item under ${path.join('.')}` })
  for (const path of [INPUTS, FILTERS, OUTPUTS].flatMap((part) => itemsOf(file, part))) {
    const label = `${path[1]} item ${Number(path[2]) + 1}`
    if (textOf(file, path, 'name') === undefined) found.push({ ...at(path), message: `${label} has no name` })
    const needsMatch = path[1] !== 'inputs' && textOf(file, path, 'match') === undefined && textOf(file, path, 'match_regex') === undefined
    if (needsMatch) found.push({ ...at(path), message: `${label} has no match: no event would get to it` })
    if (textOf(file, path, 'name') === 'tail' && textOf(file, path, 'path') === undefined)
      found.push({ ...at(path), message: `${label} is a tail without a path` })
  }
  return found
}
