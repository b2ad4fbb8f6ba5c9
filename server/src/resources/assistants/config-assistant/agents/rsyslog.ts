import { type ConfigProblem, defineAgent, type OperationHandler } from '../agent.ts'
import { posixExpression } from '../expressions.ts'
import { indexNameFor, placeOfIndex } from '../index-name.ts'
import {
  type ChangeReport,
  type ConfigOperation,
  KEY_VARIABLE,
  placeAfter,
  type Route,
  routesWithCollection,
  targetText,
} from '../operations.ts'
import { inQuotes, literal, RainerScriptFile, type RainerScriptObject } from '../rainer-file.ts'
import { pathsOf, sourceText, syslogOf, unitsOf } from '../source-options.ts'

const NAME = 'rsyslog'
const RETRY_INTERVAL_S = 10
/** rsyslog repeats a failed batch message by message, so that a large batch delays everything after it. */
const BATCH = 200
const OBJECTS = [
  'global',
  'module',
  'template',
  'action',
  'input',
  'ruleset',
  'main_queue',
  'lookup_table',
  'parser',
  'timezone',
  'include',
  'dyn_stats',
  'property',
  'constant',
  'if',
  'ratelimit',
  'perctile_stats',
]

type HandlerOf<K extends ConfigOperation['kind']> = OperationHandler<RainerScriptFile, K>

/** Writes a ruleset of its own, so that local files stay complete. */
export const rsyslog = defineAgent<RainerScriptFile>({
  agent: 'rsyslog',
  displayName: NAME,
  format: 'conf',
  sources: ['file', 'journald', 'syslog', 'docker'],
  versionMin: '8.2102',
  needs: 'its module omelasticsearch, in Debian the package rsyslog-elasticsearch',
  comment: '#',
  batchSize: BATCH,
  open: (text) => new RainerScriptFile(text),
  write: ({ text }) => text,
  problems,
  handlers: {
    send: (file, operation, report) => send(file, operation, report),
    source: (file, operation, report) => addSource(file, operation, report),
    parse: (_, { form }, report) =>
      report.warn(
        form === 'json'
          ? 'rsyslog sends lines as they are; the service takes the keys of JSON lines out by itself'
          : 'rsyslog does not read logfmt; let a parser of the service do it',
      ),
    redact: (file, { what }, report) => {
      if (what !== 'ip')
        report.warn(
          `rsyslog cannot replace by a regular expression: ${what} is not redacted. It can mask ip; a parser of the service can do the rest`,
        )
      else if (addStatement(file, 'action(type="mmanon" ipv4.bits="32" ipv4.mode="zero")', 'masks addresses before they leave', report)) {
        file.loadModule('mmanon')
        report.done('mmanon replaces IPv4 addresses by 0.0.0.0, before anything leaves the machine')
      }
    },
    drop: (file, { match }, report) => {
      const condition = matching(match)
      if (condition === undefined) report.warn(`rsyslog knows only POSIX expressions, and ${match} needs more: such lines are not left out`)
      else if (addStatement(file, `if ${condition} then { stop }`, 'leaves out what nobody reads', report))
        report.done(`lines that match ${match} are not sent`)
    },
    sample: (file, { percent }, report) => {
      if (addStatement(file, `if random(100) >= ${percent} then { stop }`, `keeps ${percent} of a hundred, by chance`, report))
        report.done(`${percent} of a hundred events are sent, by chance`)
    },
    traces: (_, __, report) => report.warn('rsyslog knows no traces; let the OpenTelemetry Collector or Alloy take them'),
    batch: (file, { size, seconds }, report) => {
      if (!hasOurs(file, report)) return
      if (size !== undefined) file.set(() => ours(file), 'queue.dequeueBatchSize', String(size))
      if (seconds !== undefined) {
        file.set(() => ours(file), 'queue.minDequeueBatchSize', String(size ?? BATCH))
        file.set(() => ours(file), 'queue.minDequeueBatchSize.timeout', String(seconds * 1_000))
      }
      report.done(
        `requests carry ${size === undefined ? 'batches' : `up to ${size} events`}${seconds === undefined ? '' : ` and wait ${seconds} s at most`}`,
      )
    },
    compress: (_, { by }, report) =>
      by === 'none'
        ? report.done('requests are not compressed')
        : report.warn(`rsyslog does not compress what it writes in bulk: ${by} was left out`),
    retry: (file, { seconds }, report) => {
      if (!hasOurs(file, report)) return
      const count = seconds === 0 ? -1 : Math.ceil(seconds / RETRY_INTERVAL_S)
      file.set(() => ours(file), 'action.resumeRetryCount', String(count))
      file.set(() => ours(file), 'action.resumeInterval', String(seconds === 0 ? 1 : RETRY_INTERVAL_S))
      report.done(
        seconds === 0
          ? 'a batch is tried again until it gets through'
          : `a batch is tried again ${count} times, ${RETRY_INTERVAL_S} s apart`,
      )
    },
    tls: (file, { tls }, report) => {
      if (!hasOurs(file, report)) return
      const members = { 'tls.cacert': tls.ca_file, 'tls.mycert': tls.cert_file, 'tls.myprivkey': tls.key_file }
      for (const [name, value] of Object.entries(members)) if (value !== undefined) file.set(() => ours(file), name, value)
      for (const name of tls.verify === false ? ['allowUnsignedCerts', 'skipVerifyHost'] : []) file.set(() => ours(file), name, 'on')
      report.done('the connection uses the TLS settings that were given')
    },
    routes: (file, { routes }, report) => addRoutes(file, routes, report),
  },
})

const ours = (file: RainerScriptFile): RainerScriptObject | undefined => file.named('action', 'name', 'dendro')

function hasOurs(file: RainerScriptFile, report: ChangeReport): boolean {
  if (ours(file)) return true
  report.warn('there is no action to this deployment whose settings could be meant; name a dataset to add one')
  return false
}

function matching(expression: string): string | undefined {
  const posix = posixExpression(expression)
  return posix && `${posix.ignoresCase ? 're_match_i' : 're_match'}($msg, ${literal(posix.text)})`
}

/** Inserts a statement right before our action. */
function addStatement(file: RainerScriptFile, statement: string, comment: string, report: ChangeReport): boolean {
  if (!hasOurs(file, report)) return false
  file.insert(ours(file)?.start ?? 0, `# ${comment}\n  ${statement}\n  `)
  return true
}

const INDEX = /set \$\.dendro_index = '((?:[^'\\]|\\.)*)';/

/** The index to which our action sends. */
const indexIn = (file: RainerScriptFile): string => INDEX.exec(file.text)?.[1]?.replaceAll(/\\(.)/g, '$1') ?? ''

const send: HandlerOf<'send'> = (file, { url, place, tags }, report) => {
  const isNew = file.isEmpty
  const target = placeAfter(place, placeOfIndex(indexIn(file)))
  const { name, warning } = indexNameFor(target)
  if (warning !== undefined) report.warn(warning)
  const { protocol, hostname, port } = new URL(url)
  const isSecure = protocol === 'https:'
  if (ours(file)) {
    file.text = file.text.replace(INDEX, () => `set $.dendro_index = ${literal(name)};`)
    setTags(file, tags, report)
    report.done(`the action dendro sent here already; its events now go to ${targetText(target)}`)
    return
  }
  if (isNew) file.append('global(workDirectory="/var/spool/rsyslog" maxMessageSize="64k")\n')
  file.loadModule('omelasticsearch')
  const constants = Object.entries(tags).map(
    ([key, value]) => `  constant(outname="${inQuotes(key)}" value="${inQuotes(value)}" format="jsonf")\n`,
  )
  file.append(`
template(name="dendro-index" type="string" string="%$.dendro_index%")
template(name="dendro-event" type="list" option.jsonf="on") {
  property(outname="@timestamp" name="timereported" dateFormat="rfc3339" format="jsonf")
  property(outname="host.name" name="hostname" format="jsonf")
  property(outname="log.level" name="syslogseverity-text" format="jsonf")
  property(outname="program" name="programname" format="jsonf")
${constants.join('')}  property(outname="message" name="msg" format="jsonf")
}

# to this deployment, ${targetText(target)}
ruleset(name="dendro") {
  set $.dendro_index = ${literal(name)};
  action(name="dendro" type="omelasticsearch"
    server="${inQuotes(hostname)}" serverport="${port || (isSecure ? 443 : 80)}" usehttps="${isSecure ? 'on' : 'off'}"
    uid="dendro" pwd=\`echo $${KEY_VARIABLE}\`
    template="dendro-event" searchIndex="dendro-index" dynSearchIndex="on" searchType="" bulkmode="on" maxbytes="1m"
    queue.type="LinkedList" queue.size="100000" queue.filename="dendro" queue.maxDiskSpace="1g" queue.saveOnShutdown="on"
    queue.dequeueBatchSize="${BATCH}" action.resumeRetryCount="-1" action.resumeInterval="1")
}
`)
  if (!isNew) {
    file.append('\n# what the rules before let through\ncall dendro\n')
    report.done('lines that a rule before the last line stops are not sent; move the line call dendro up to send them too')
  }
  report.done(
    `the ruleset dendro sends to ${url}, ${targetText(target)}; the key comes from the variable ${KEY_VARIABLE}, so that it stands in no file`,
  )
  if (constants.length > 0) report.done('tags stand in each event as keys of their own, since rsyslog sends no headers')
}

/** Sets tags as keys of each event; other tags stay. */
function setTags(file: RainerScriptFile, tags: Readonly<Record<string, string>>, report: ChangeReport): void {
  for (const [key, value] of Object.entries(tags)) {
    const known = () => file.named('constant', 'outname', inQuotes(key))
    if (known()) {
      file.set(known, 'value', value)
      continue
    }
    const message = file.objects().find(({ name, parameters }) => name === 'property' && parameters.get('outname')?.value === 'message')
    if (message) file.insert(message.start, `constant(outname="${inQuotes(key)}" value="${inQuotes(value)}" format="jsonf")\n  `)
    else report.warn('the template of the action dendro has no key message, before which tags would stand: none were added')
  }
}

const addSource: HandlerOf<'source'> = (file, { source, multiline, platform }, report) => {
  const { kind } = source
  const first = multiline === undefined ? undefined : posixExpression(multiline)
  const lines = first ? ` startmsg.regex="${inQuotes(first.text)}"` : ''
  const bound = file.named('ruleset', 'name', 'dendro') ? ' ruleset="dendro"' : ''
  const files = (paths: readonly string[], tag: string, joined: string): string =>
    paths.map((path) => `input(type="imfile" file="${inQuotes(path)}" tag="${tag}"${joined}${bound})\n`).join('')
  const { port, protocol } = syslogOf(source)
  const units = unitsOf(source)
  const others = units.map((unit) => `$!_SYSTEMD_UNIT == ${literal(unit)}`).join(' or ')
  const journal = `if $inputname == 'imjournal'${units.length > 0 ? ` and (${others})` : ''} then { call dendro }\n`
  const inputs: Partial<Record<typeof kind, { module: string; text: string }>> = {
    file: { module: 'imfile', text: files(pathsOf(source, platform), 'files', lines) },
    docker: { module: 'imfile', text: files(['/var/lib/docker/containers/*/*-json.log'], 'docker', '') },
    syslog: {
      module: protocol === 'tcp' ? 'imptcp' : 'imudp',
      text: `input(type="${protocol === 'tcp' ? 'imptcp' : 'imudp'}" port="${port}"${bound})\n`,
    },
    journald: { module: 'imjournal', text: bound === '' ? '' : journal },
  }
  const input = inputs[kind]
  if (!input) return
  file.loadModule(input.module)
  file.append(`\n# reads ${sourceText(source, platform)}\n${input.text}`)
  report.done(`${input.module} reads ${sourceText(source, platform)}`)
  if (kind === 'docker') report.done('the lines of Docker are JSON around the line of the program; the service looks into it')
  if (platform === 'windows') report.warn('rsyslog does not run on Windows')
  if (multiline !== undefined && (kind === 'syslog' || kind === 'journald'))
    report.warn(`events of ${kind} come one by one: multiline does not apply to them`)
  else if (multiline !== undefined && kind === 'docker')
    report.warn('the lines of Docker are each in a frame: rsyslog cannot put them together')
  else if (multiline !== undefined && !first)
    report.warn(`rsyslog knows only POSIX expressions, and ${multiline} needs more: lines stay apart`)
}

/** Changes the index of a line before it is sent; the first matching route wins. */
function addRoutes(file: RainerScriptFile, requested: readonly Route[], report: ChangeReport): void {
  if (!hasOurs(file, report)) return
  const branches: string[] = []
  for (const { match, place } of routesWithCollection(requested, placeOfIndex(indexIn(file)).collection)) {
    const condition = matching(match)
    const { name, warning } = indexNameFor(place)
    if (warning !== undefined) report.warn(warning)
    if (condition === undefined) {
      report.warn(`rsyslog knows only POSIX expressions, and ${match} needs more: such lines stay with the others`)
      continue
    }
    branches.push(`if ${condition} then { set $.dendro_index = ${literal(name)}; }`)
    report.done(`lines that match ${match} go to ${targetText(place)} by the index ${name}`)
  }
  if (branches.length > 0) addStatement(file, branches.join('\n  else '), 'lines of one kind go to a dataset of their own', report)
}

function problems(file: RainerScriptFile): ConfigProblem[] {
  const found: ConfigProblem[] = []
  const objects = file.objects()
  const value = (object: RainerScriptObject, name: string): string | undefined => object.parameters.get(name)?.value
  const names = (kind: string): Set<string | undefined> =>
    new Set(objects.filter(({ name }) => name === kind).map((object) => value(object, 'name')))
  const [templates, rulesets] = [names('template'), names('ruleset')]
  const needs = new Map(Object.entries({ module: 'load', input: 'type', action: 'type', template: 'name', ruleset: 'name' }))
  for (const object of objects) {
    const needed = needs.get(object.name)
    if (needed !== undefined && value(object, needed) === undefined)
      found.push({ line: object.line, message: `${object.name}() has no ${needed}` })
    // An object has parameters; without any it is a function or a condition.
    if (!OBJECTS.includes(object.name) && object.parameters.size > 0)
      found.push({ line: object.line, message: `rsyslog knows no object ${object.name}()` })
    const [template, ruleset] = [value(object, 'template'), value(object, 'ruleset')]
    if (object.name === 'action' && template !== undefined && !template.startsWith('RSYSLOG_') && !templates.has(template))
      found.push({ line: object.line, message: `the template ${template} is not there` })
    if (object.name === 'input' && ruleset !== undefined && !rulesets.has(ruleset))
      found.push({ line: object.line, message: `the ruleset ${ruleset} is not there` })
  }
  const legacy = /^[ \t]*\$(ModLoad|Input|ActionQueue)\w*|^[ \t]*[\w*,.;]+\.[\w*=!]+[ \t]+\S/m.test(file.text)
  if (!legacy && !objects.some(({ name }) => name === 'action')) found.push({ message: 'rsyslog needs at least one action()' })
  return found
}
