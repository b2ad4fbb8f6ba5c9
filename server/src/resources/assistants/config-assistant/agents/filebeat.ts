import { type ConfigProblem, defineAgent, type OperationHandler } from '../agent.ts'
import { dottedPath, placeFor } from '../dotted-keys.ts'
import { expressionFor, MASK } from '../expressions.ts'
import { routingHeaders } from '../headers.ts'
import { indexNameFor, placeOfIndex } from '../index-name.ts'
import {
  type ChangeReport,
  type ConfigOperation,
  KEY_VARIABLE,
  placeAfter,
  type Route,
  routesWithCollection,
  targetText,
  withDefaults,
} from '../operations.ts'
import { pathsOf, sourceText, syslogOf, unitsOf } from '../source-options.ts'
import { YamlFile } from '../yaml-file.ts'

const NAME = 'Filebeat'
const OUTPUT = 'output.elasticsearch'
const OUTPUTS = ['elasticsearch', 'logstash', 'kafka', 'redis', 'file', 'console', 'discard']
const GZIP_LEVEL = 1

type HandlerOf<K extends ConfigOperation['kind']> = OperationHandler<YamlFile, K>

/** Sends with the bulk API, like any such shipper. */
export const filebeat = defineAgent<YamlFile>({
  agent: 'filebeat',
  displayName: NAME,
  format: 'yaml',
  sources: ['file', 'journald', 'syslog', 'docker', 'kubernetes'],
  versionMin: '8.0',
  needs: 'nothing else; templates and lifecycles are switched off, since the service needs none',
  comment: '#',
  open: (text) => new YamlFile(text, NAME),
  write: String,
  problems,
  handlers: {
    send: (file, operation, report) => send(file, operation, report),
    source: (file, operation, report) => addSource(file, operation, report),
    parse: (file, { form }, report) => {
      if (form === 'logfmt') {
        report.warn('Filebeat does not read logfmt; let a parser of the service do it')
        return
      }
      addProcessor(
        file,
        { decode_json_fields: { fields: ['message'], target: '', overwrite_keys: true, add_error_key: false } },
        'takes the keys of json lines out',
      )
      report.done('decode_json_fields puts the keys of json lines into the event')
    },
    redact: (file, { what }, report) => {
      const fields = [{ field: 'message', pattern: expressionFor(what), replacement: MASK }]
      addProcessor(file, { replace: { fields, ignore_missing: true, fail_on_error: false } }, `masks ${what} before it leaves`)
      report.done(
        `replace puts *** in the place of ${what} in the line, before anything leaves the machine; keys that were taken out before are not looked at`,
      )
    },
    drop: (file, { match }, report) => {
      addProcessor(file, { drop_event: { when: { regexp: { message: match } } } }, 'leaves out what nobody reads')
      report.done(`drop_event leaves out lines that match ${match}`)
    },
    sample: (file, { percent }, report) => {
      const source = `function process(event) {\n  if (Math.random() >= ${percent / 100}) event.Cancel();\n}\n`
      addProcessor(file, { script: { lang: 'javascript', source } }, `keeps ${percent} of a hundred, by chance`)
      report.done(`a script keeps ${percent} of a hundred events by chance; Filebeat has no processor for it`)
    },
    traces: (_, __, report) => report.warn('Filebeat knows no traces; let the OpenTelemetry Collector or Alloy take them'),
    batch: (file, { size, seconds }, report) => {
      if (!onOutput(file, report)) return
      if (size !== undefined) file.set(placeFor(file, `${OUTPUT}.bulk_max_size`), size)
      if (seconds !== undefined) file.set(placeFor(file, 'queue.mem.flush.timeout'), `${seconds}s`)
      report.done(
        `requests carry ${size === undefined ? 'batches' : `up to ${size} events`}${seconds === undefined ? '' : ` and wait ${seconds} s at most`}`,
      )
    },
    compress: (file, { by }, report) => {
      if (by === 'zstd') report.warn('Filebeat compresses by gzip only; nothing was changed')
      else if (onOutput(file, report)) {
        file.set(placeFor(file, `${OUTPUT}.compression_level`), by === 'none' ? 0 : GZIP_LEVEL)
        report.done(`requests are compressed by ${by}`)
      }
    },
    retry: (file, { seconds }, report) => {
      if (!onOutput(file, report)) return
      file.set(placeFor(file, `${OUTPUT}.backoff.max`), '60s')
      report.done('a batch is tried again until it gets through, at most a minute apart')
      if (seconds > 0) report.warn(`Filebeat never gives up on an event: it cannot stop after ${seconds} s`)
    },
    tls: (file, { tls }, report) => {
      if (!onOutput(file, report)) return
      if (tls.ca_file !== undefined) file.set(placeFor(file, `${OUTPUT}.ssl.certificate_authorities`), [tls.ca_file])
      if (tls.cert_file !== undefined) file.set(placeFor(file, `${OUTPUT}.ssl.certificate`), tls.cert_file)
      if (tls.key_file !== undefined) file.set(placeFor(file, `${OUTPUT}.ssl.key`), tls.key_file)
      if (tls.verify !== undefined) file.set(placeFor(file, `${OUTPUT}.ssl.verification_mode`), tls.verify ? 'full' : 'none')
      report.done('the connection uses the TLS settings that were given')
    },
    routes: (file, { routes }, report) => addRoutes(file, routes, report),
  },
})

const send: HandlerOf<'send'> = (file, { url, place, tags }, report) => {
  const isNew = file.isEmpty
  const isOurs = file.texts(placeFor(file, `${OUTPUT}.hosts`)).includes(withPort(url))
  const target = isOurs ? placeAfter(place, placeOfIndex(file.text(placeFor(file, `${OUTPUT}.index`)) ?? '')) : withDefaults(place)
  const { name, warning } = indexNameFor(target)
  const other = OUTPUTS.find((one) => one !== 'elasticsearch' && dottedPath(file, `output.${one}`))
  if (other !== undefined) {
    report.warn(`Filebeat has one output, and this file has output.${other}: remove it and ask again, or run a second Filebeat`)
    return
  }
  if (warning !== undefined) report.warn(warning)
  if (isNew) file.set(['filebeat.inputs'], [])
  const settings = isOurs
    ? { index: name }
    : {
        hosts: [withPort(url)],
        username: 'dendro',
        password: `\${${KEY_VARIABLE}}`,
        index: name,
        compression_level: GZIP_LEVEL,
        allow_older_versions: true,
      }
  const headers = routingHeaders({ collection: undefined, dataset: undefined }, tags)
  if (!dottedPath(file, OUTPUT)) file.set([OUTPUT], {}, `to this deployment, ${targetText(target)}`)
  else if (!isOurs) {
    report.done('the output was for another place: Filebeat has only one, so that its hosts and its credentials were replaced')
  }
  for (const [member, value] of Object.entries(settings)) file.set(placeFor(file, `${OUTPUT}.${member}`), value)
  if (Object.keys(headers).length > 0) file.set(placeFor(file, `${OUTPUT}.headers`), headers)
  for (const [setting, comment] of [
    ['setup.template.enabled', 'the service needs neither templates nor lifecycles'],
    ['setup.ilm.enabled', undefined],
  ] as const)
    file.set(placeFor(file, setting), false, comment)
  report.done(
    `${OUTPUT} sends to ${url}, ${targetText(target)}; the key comes from the variable ${KEY_VARIABLE}, so that it stands in no file`,
  )
}

/** Adds the port: without one Filebeat assumes 9200. */
function withPort(url: string): string {
  const { protocol, hostname, port, pathname } = new URL(url)
  return `${protocol}//${hostname}:${port || (protocol === 'https:' ? 443 : 80)}${pathname.replace(/\/$/, '')}`
}

function onOutput(file: YamlFile, report: ChangeReport): boolean {
  if (dottedPath(file, OUTPUT)) return true
  report.warn(`there is no ${OUTPUT} whose settings could be meant; name a dataset to add one for this deployment`)
  return false
}

const addSource: HandlerOf<'source'> = (file, { source, multiline, platform }, report) => {
  const { kind } = source
  const { port, protocol } = syslogOf(source)
  const lines = multiline === undefined ? [] : [{ multiline: { type: 'pattern', pattern: multiline, negate: true, match: 'after' } }]
  const units = unitsOf(source)
  const parsers = (first: readonly object[]): object => (first.length + lines.length === 0 ? {} : { parsers: [...first, ...lines] })
  const inputs = {
    file: { type: 'filestream', id: 'files', paths: pathsOf(source, platform), ...parsers([]) },
    journald: { type: 'journald', id: 'journal', seek: 'tail', ...(units.length > 0 ? { units } : {}) },
    syslog: { type: 'syslog', format: 'auto', [`protocol.${protocol}`]: { host: `0.0.0.0:${port}` } },
    docker: {
      type: 'filestream',
      id: 'docker',
      paths: ['/var/lib/docker/containers/*/*-json.log'],
      ...parsers([{ container: { stream: 'all', format: 'docker' } }]),
    },
    kubernetes: {
      type: 'filestream',
      id: 'kubernetes',
      paths: ['/var/log/containers/*.log'],
      'prospector.scanner.symlinks': true,
      ...parsers([{ container: { stream: 'all' } }]),
    },
  }
  if (kind === 'otlp') return
  const path = placeFor(file, 'filebeat.inputs')
  const taken = Array.from({ length: file.length(path) ?? 0 }, (_, index) => file.text([...path, index, 'id']))
  const input: { type: string; id?: string } = inputs[kind]
  // Two inputs with one id would share their file positions.
  if (input.id !== undefined && taken.includes(input.id)) input.id = `${input.id}-${taken.length + 1}`
  file.add(path, input, { comment: `reads ${sourceText(source, platform)}` })
  if (kind === 'kubernetes')
    addProcessor(
      file,
      { add_kubernetes_metadata: { host: `\${NODE_NAME}`, matchers: [{ logs_path: { logs_path: '/var/log/containers/' } }] } },
      'names pods, namespaces and labels',
    )
  report.done(`an input ${input.type} reads ${sourceText(source, platform)}`)
  if (kind === 'journald') report.done('the input journald is of Filebeat 8.16 and newer as a finished feature, and a preview before')
  if (multiline !== undefined && (kind === 'journald' || kind === 'syslog'))
    report.warn(`events of ${kind} come one by one: multiline does not apply to them`)
}

const addProcessor = (file: YamlFile, settings: object, comment: string): void => file.add(['processors'], settings, { comment })

function addRoutes(file: YamlFile, requested: readonly Route[], report: ChangeReport): void {
  if (!onOutput(file, report)) return
  const index = file.text(placeFor(file, `${OUTPUT}.index`)) ?? ''
  for (const { match, place } of routesWithCollection(requested, placeOfIndex(index).collection)) {
    const { name, warning } = indexNameFor(place)
    if (warning !== undefined) report.warn(warning)
    file.add(placeFor(file, `${OUTPUT}.indices`), { index: name, when: { regexp: { message: match } } })
    report.done(`lines that match ${match} go to ${targetText(place)} by the index ${name}`)
  }
}

function problems(file: YamlFile): ConfigProblem[] {
  const found: ConfigProblem[] = []
  const at = (path: readonly (string | number)[]): { line?: number } => {
    const line = file.line(path)
    return line === undefined ? {} : { line }
  }
  const inputs = dottedPath(file, 'filebeat.inputs')
  if (
    !inputs &&
    !['filebeat.modules', 'filebeat.config.inputs', 'filebeat.config.modules', 'filebeat.autodiscover'].some((name) =>
      dottedPath(file, name),
    )
  )
    found.push({ message: 'Filebeat needs filebeat.inputs, modules or autodiscover' })
  const outputs = OUTPUTS.filter((name) => dottedPath(file, `output.${name}`))
  if (outputs.length !== 1)
    found.push({
      message: `Filebeat needs exactly one output, and there ${outputs.length === 0 ? 'is none' : `are ${outputs.length}: ${outputs.join(', ')}`}`,
    })
  const output = dottedPath(file, OUTPUT)
  if (output && !dottedPath(file, `${OUTPUT}.hosts`) && !dottedPath(file, 'cloud.id'))
    found.push({ ...at(output), message: `${OUTPUT} has no hosts` })
  for (let index = 0; inputs && index < (file.length(inputs) ?? 0); index += 1) {
    const path = [...inputs, index]
    const type = file.text([...path, 'type'])
    if (type === undefined) found.push({ ...at(path), message: `input ${index + 1} has no type` })
    if (type === 'filestream' && !file.has([...path, 'id']))
      found.push({ ...at(path), message: `input ${index + 1} is a filestream without an id: files would be read again or left out` })
    if ((type === 'filestream' || type === 'log') && file.texts([...path, 'paths']).length === 0)
      found.push({ ...at(path), message: `input ${index + 1} has no paths` })
  }
  if (
    dottedPath(file, `${OUTPUT}.index`) &&
    file.text(dottedPath(file, 'setup.template.enabled') ?? []) !== 'false' &&
    !dottedPath(file, 'setup.template.name')
  )
    found.push({ message: 'an index of its own needs setup.template.name and setup.template.pattern, or setup.template.enabled: false' })
  return found
}
