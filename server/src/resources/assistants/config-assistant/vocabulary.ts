import type { ConfigChanges, ConfigSource } from '@dendro/api'

type Options = NonNullable<ConfigChanges['options']>
type PartialChanges = { sources?: ConfigSource[]; options?: Options; collection?: string; dataset?: string }
/** Extracts changes from a clause; undefined if the rule does not match. */
type ClauseRule = (clause: string) => PartialChanges | undefined

export type InterpretedWords = { readonly changes: ConfigChanges; readonly unknown: readonly string[] }

/** Finds changes in plain words, clause by clause. Quoted text is not interpreted. */
export function readWords(prompt: string): InterpretedWords {
  let changes: ConfigChanges = {}
  const unknown: string[] = []
  let verb = ''
  for (const clause of clausesOf(prompt)) {
    // "redact e-mails and cards": the second part lives on the verb of the first.
    const own = changesIn(clause)
    const inherited = own.length > 0 || verb === '' ? own : changesIn(`${verb} ${clause}`)
    verb = VERBS.exec(withoutQuotes(clause))?.[0] ?? verb
    for (const partial of inherited) changes = added(changes, partial)
    if (inherited.length === 0 && /\p{L}/u.test(clause)) unknown.push(clause)
  }
  return { changes: changes, unknown }
}

const VERBS = /\b(redact|mask|hide|scrub|anonymi[sz]e|drop|discard|ignore|exclude|skip|leave out|collect|read|tail|watch)\b/i
const QUOTED = /"([^"]+)"|'([^']+)'|`([^`]+)`/
const changesIn = (clause: string): PartialChanges[] => rules.flatMap((rule) => rule(clause) ?? [])

/** Splits at commas and the like, but not within quotes, paths or numbers. */
function clausesOf(prompt: string): string[] {
  const quotes: string[] = []
  const shut = prompt.replaceAll(new RegExp(QUOTED.source, 'g'), (quote) => `\uE000${quotes.push(quote) - 1}\uE000`)
  return shut
    .split(/[,;\n]+|[.!?](?=\s|$)|\band\b|\bthen\b/i)
    .map((clause) => clause.replaceAll(/\uE000(\d+)\uE000/g, (_, index) => quotes[Number(index)] ?? '').trim())
    .filter((clause) => clause !== '')
}

const withoutQuotes = (clause: string): string => clause.replaceAll(new RegExp(QUOTED.source, 'g'), ' ')
const quotedIn = (clause: string): string | undefined => {
  const found = QUOTED.exec(clause)
  return found?.[1] ?? found?.[2] ?? found?.[3]
}

function added(changes: ConfigChanges, { sources, options, ...rest }: PartialChanges): ConfigChanges {
  const known = changes.options ?? {}
  const joined: Options = { ...known, ...options }
  for (const list of ['redact', 'drop'] as const) {
    const all = [...new Set([...(known[list] ?? []), ...(options?.[list] ?? [])])]
    if (all.length > 0) joined[list] = all
  }
  if (options?.routes) joined.routes = [...(known.routes ?? []), ...options.routes]
  return { ...changes, ...rest, ...(sources ? { sources: [...(changes.sources ?? []), ...sources] } : {}), options: joined }
}

const rules: readonly ClauseRule[] = [sources, parse, redact, drop, sample, batch, compress, retry, tls, multiline, traces, place]

const isAbout = (clause: string, words: RegExp): boolean => words.test(withoutQuotes(clause))
const DROPS = /\b(drop|discard|ignore|exclude|skip|leave out)\b/i
const HIDES = /\b(redact|mask|hide|scrub|anonymi[sz]e)\b/i

function sources(clause: string): PartialChanges | undefined {
  if (isAbout(clause, DROPS) || isAbout(clause, HIDES) || isAbout(clause, /\b(tls|ssl|certificate)\b/i)) return undefined
  const found: ConfigSource[] = []
  const paths = clause.match(/(?:[A-Z]:\\|\/)[\w.*?\\/-]*[\w*]/g)?.filter((path) => !/:\/\//.test(clause) || !clause.includes(`:/${path}`))
  if (paths?.length) found.push({ kind: 'file', options: { paths } })
  else if (isAbout(clause, /\b(log )?files?\b/i) && !isAbout(clause, /docker|kubernetes|k8s/i)) found.push({ kind: 'file' })
  const units = clause.match(/[\w@-]+\.service\b/g)
  if (units?.length) found.push({ kind: 'journald', options: { units } })
  else if (isAbout(clause, /\b(journald?|systemd)\b/i)) found.push({ kind: 'journald' })
  if (isAbout(clause, /\b(kubernetes|k8s|pods?)\b/i)) found.push({ kind: 'kubernetes' })
  else if (isAbout(clause, /\b(docker|containers?)\b/i)) found.push({ kind: 'docker' })
  if (isAbout(clause, /\bsyslog\b/i)) found.push({ kind: 'syslog', ...portIn(clause) })
  if (isAbout(clause, /\b(otlp|opentelemetry sdks?)\b/i)) found.push({ kind: 'otlp' })
  return found.length > 0 ? { sources: found } : undefined
}

function portIn(clause: string): Pick<ConfigSource, 'options'> {
  const port = Number(/\bport (\d{1,5})\b/i.exec(clause)?.[1])
  const protocol = /\budp\b/i.test(clause) ? ('udp' as const) : undefined
  const isPort = port >= 1 && port <= 65_535
  return isPort || protocol ? { options: { ...(isPort ? { port } : {}), ...(protocol ? { protocol } : {}) } } : {}
}

function parse(clause: string): PartialChanges | undefined {
  if (isAbout(clause, DROPS)) return undefined
  if (isAbout(clause, /\bjson\b/i)) return { options: { parse: 'json' } }
  return isAbout(clause, /\b(logfmt|key[- =]values?)\b/i) ? { options: { parse: 'logfmt' } } : undefined
}

const SECRETS: readonly (readonly [words: RegExp, name: string])[] = [
  [/\be-?mails?( address(es)?)?\b/i, 'email'],
  [/\bcards?( numbers?)?\b/i, 'card'],
  [/\bips?( address(es)?)?\b/i, 'ip'],
  [/\b(bearer|tokens?|authorization)\b/i, 'token'],
]

function redact(clause: string): PartialChanges | undefined {
  if (!isAbout(clause, HIDES)) return undefined
  const named = SECRETS.filter(([words]) => isAbout(clause, words)).map(([, name]) => name)
  const quoted = quotedIn(clause)
  const what = [...named, ...(quoted === undefined ? [] : [quoted])]
  return what.length > 0 ? { options: { redact: what } } : undefined
}

const HEALTH_CHECKS = /\bhealth ?-?checks?\b/i

function drop(clause: string): PartialChanges | undefined {
  if (!isAbout(clause, DROPS)) return undefined
  const quoted = quotedIn(clause)
  const word = /\blines? (?:with|containing|that contain)\s+(?:the (?:word|text) )?([\w./:@-]*\w)\s*$/i.exec(withoutQuotes(clause))?.[1]
  const level = /\b(debug|trace|info)\b/i.exec(withoutQuotes(clause))?.[1]?.toLowerCase()
  const what = [
    ...(quoted === undefined ? [] : [quoted]),
    ...(level === undefined ? [] : [`(?i)\\b${level}\\b`]),
    ...(isAbout(clause, HEALTH_CHECKS) ? ['(?i)health[ _-]?check|/(health|live|ready)z?\\b'] : []),
    ...(word === undefined || level !== undefined || HEALTH_CHECKS.test(word) ? [] : [word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')]),
  ]
  return what.length > 0 ? { options: { drop: what } } : undefined
}

function sample(clause: string): PartialChanges | undefined {
  const plain = withoutQuotes(clause)
  if (!/\b(sample|sampling|keep|only|send)\b/i.test(plain)) return undefined
  const percent = Number(/(\d{1,2}) ?(%|percent|per cent|of (a|every) hundred)/i.exec(plain)?.[1])
  const oneOf = Number(
    /\b(?:one|1) (?:in|of|out of)(?: every)? (\d{1,2})\b/i.exec(plain)?.[1] ??
      (/\b(?:one|1) (?:in|of) ten\b/i.test(plain) ? 10 : Number.NaN),
  )
  const kept = percent >= 1 ? percent : oneOf >= 2 ? Math.max(1, Math.round(100 / oneOf)) : undefined
  return kept === undefined ? undefined : { options: { sample_percent: kept } }
}

const SECONDS: ReadonlyMap<string, number> = new Map(Object.entries<number>({ s: 1, m: 60, h: 3_600 }))

function secondsIn(clause: string): number | undefined {
  const [, count, unit] = /\b(\d{1,5}) ?(s|m|h)(?:ec(?:ond)?s?|in(?:ute)?s?|ours?)?\b/i.exec(withoutQuotes(clause)) ?? []
  return count === undefined ? undefined : Number(count) * (SECONDS.get((unit ?? 's').toLowerCase()) ?? 1)
}

function batch(clause: string): PartialChanges | undefined {
  if (!isAbout(clause, /\bbatch|\b(send|flush|ship)\b.*\bevery\b/i)) return undefined
  const size = Number(/\b(\d{1,6}) ?(events?|records?|lines|logs)?\b(?! ?(s|sec|min|m)\b)/i.exec(withoutQuotes(clause))?.[1])
  const seconds = secondsIn(clause)
  const options = {
    ...(isAbout(clause, /\bbatch/i) && size >= 1 && size <= 100_000 && size !== seconds ? { batch_size: size } : {}),
    ...(seconds !== undefined && seconds <= 300 ? { batch_seconds: seconds } : {}),
  }
  return Object.keys(options).length > 0 ? { options } : undefined
}

function compress(clause: string): PartialChanges | undefined {
  const by = (['gzip', 'zstd'] as const).find((name) => isAbout(clause, new RegExp(`\\b${name}\\b`, 'i')))
  if (by) return { options: { compression: by } }
  return isAbout(clause, /\b(no|without|un)[ -]?compress/i) ? { options: { compression: 'none' } } : undefined
}

function retry(clause: string): PartialChanges | undefined {
  if (!isAbout(clause, /\b(retry|retries|retried|try again|keep trying)\b/i)) return undefined
  const seconds = isAbout(clause, /\b(for ?ever|until|always|unlimited)\b/i) ? 0 : secondsIn(clause)
  return { options: { retry_seconds: Math.min(86_400, seconds ?? 0) } }
}

function tls(clause: string): PartialChanges | undefined {
  if (!isAbout(clause, /\b(tls|ssl|certificates?)\b/i)) return undefined
  const file = /\/[\w./-]+\.(pem|crt|cer)\b/.exec(clause)?.[0]
  const isLax = isAbout(clause, /\b(skip|without|no|insecure|do not|don't)\b/i)
  const found = { ...(file ? { ca_file: file } : {}), ...(isLax ? { verify: false } : {}) }
  return Object.keys(found).length > 0 ? { options: { tls: found } } : undefined
}

/** A line that begins with a blank belongs to the one before: so stack traces are written nearly everywhere. */
function multiline(clause: string): PartialChanges | undefined {
  return isAbout(clause, /\bmulti-?line\b|\bstack ?traces?\b/i) ? { options: { multiline: quotedIn(clause) ?? '^\\S' } } : undefined
}

function traces(clause: string): PartialChanges | undefined {
  const isMeant = isAbout(clause, /\b(traces|spans)\b/i) && !isAbout(clause, /\bstack ?traces?\b/i) && !isAbout(clause, DROPS)
  return isMeant ? { options: { include_traces: true } } : undefined
}

function place(clause: string): PartialChanges | undefined {
  const name = (noun: string): string | undefined =>
    new RegExp(`\\b${noun}\\s+(?:called |named )?["'\`]?([\\p{L}\\d][\\p{L}\\d._-]*)`, 'iu').exec(clause)?.[1]
  const [collection, dataset] = [name('collection'), name('dataset')]
  const match = /\b(lines?|events?|logs?|errors?|what)\b.*\b(with|containing|contains?|matching|matches|like)\b/i.test(clause)
    ? quotedIn(clause)
    : undefined
  if (match !== undefined && dataset !== undefined)
    return { options: { routes: [{ match, dataset, ...(collection === undefined ? {} : { collection }) }] } }
  if (collection === undefined && dataset === undefined) return undefined
  return { ...(collection === undefined ? {} : { collection }), ...(dataset === undefined ? {} : { dataset }) }
}
