import type { Random } from '../../server/src/lines/reference/generated-lines.fixture.ts'

/** Kinds of lines that the other benchmarks do not have. Each maker writes lines of one program. */
export const kinds: Record<string, (random: Random) => () => string> = {
  'json-behind-text': jsonBehindText,
  'json-then-text': jsonThenText,
  'json-truncated': jsonTruncated,
  'json-repeated-keys': jsonRepeatedKeys,
  'json-nested': jsonNested,
  'json-arrays': jsonArrays,
  'json-any-order': jsonAnyOrder,
  'json-300-keys': json300Keys,
  'json-spaced': jsonSpaced,
  'json-escapes': jsonEscapes,
  'json-slashes': jsonSlashes,
  'json-tabs': jsonTabs,
  'json-fractions': jsonFractions,
  'json-short-times': jsonShortTimes,
  'json-varied-behind-text': jsonVariedBehindText,
  'pairs-quoted': pairsQuoted,
  'pairs-40': pairs40,
  'pairs-time': pairsTime,
  'pairs-varied': pairsVaried,
  progress: progressLines,
  traces: traceLines,
  csv: (random) => separated(random, ','),
  tsv: (random) => separated(random, '\t'),
  colors: colorLines,
  base64: base64Lines,
  xml: xmlLines,
  numbers: numberLines,
  cef: cefLines,
  leef: leefLines,
  w3c: w3cLines,
  gc: gcLines,
  windows: windowsLines,
  'zero-bytes': zeroBytes,
  crlf: crlfLines,
  indented: indentedLines,
  'python-trace': pythonTrace,
  'long-text': longText,
  'apache-errors': apacheErrors,
  'container-runtime': containerRuntime,
  'day-first': dayFirst,
  'json-behind-words': jsonBehindWords,
  latin1: latin1Lines,
  'json-latin1': jsonLatin1,
  'times-1970': timesOf1970,
}

const START_MS = Date.UTC(2025, 10, 20)
const hex = (random: Random, digits: number): string => Array.from({ length: digits }, () => random.below(16).toString(16)).join('')
const address = (random: Random): string => `10.${random.below(4)}.${random.below(256)}.${1 + random.below(254)}`
const levels = ['INFO', 'INFO', 'INFO', 'INFO', 'DEBUG', 'WARN', 'ERROR']
const words =
  'block cache commit connection consumer disk entry file flush index job key lease lock log message node offset page partition peer queue read record replica request retry segment session shard'.split(
    ' ',
  )
const verbs = 'accepted acquired closed created dropped expired failed finished moved opened received refused released'.split(' ')
const sentence = (random: Random): string => `${random.pick(words)} ${random.pick(verbs)} ${random.pick(words)} ${random.below(10 ** 5)}`

/** The time rises by some milliseconds from line to line. */
function clockFrom(random: Random): () => Date {
  let timeMs = START_MS
  return () => {
    timeMs += random.below(20)
    return new Date(timeMs)
  }
}
const iso = (time: Date): string => time.toISOString()

const record = (random: Random): Record<string, unknown> => ({
  user: random.below(90_000),
  action: random.pick(['read', 'write', 'delete']),
  path: `/api/v1/${random.pick(words)}/${random.below(9_999)}`,
  duration_ms: random.below(90_000) / 100,
  ok: random.chance(0.9),
  host: `node-${random.below(40)}`,
  request_id: hex(random, 16),
})

function jsonBehindText(random: Random): () => string {
  const clock = clockFrom(random)
  return () => `${iso(clock())} ${random.pick(levels)} [handler-${random.below(9)}] ${sentence(random)}: ${JSON.stringify(record(random))}`
}

function jsonThenText(random: Random): () => string {
  const clock = clockFrom(random)
  return () => `${iso(clock())} ${random.pick(levels)} got ${JSON.stringify(record(random))} after ${random.below(900)} ms`
}

/** As a sender writes that cuts at a number of bytes. */
function jsonTruncated(random: Random): () => string {
  const clock = clockFrom(random)
  return () => {
    const line = JSON.stringify({
      time: iso(clock()),
      level: random.pick(levels),
      msg: sentence(random),
      ...record(random),
      more: hex(random, 64),
    })
    return random.chance(0.1) ? line : line.slice(0, 100 + random.below(line.length - 100))
  }
}

function jsonRepeatedKeys(random: Random): () => string {
  const clock = clockFrom(random)
  return () => {
    const [line] = JSON.stringify({ time: iso(clock()), level: random.pick(levels), msg: sentence(random), ...record(random) }).split(/\}$/)
    return `${line},"host":"node-${random.below(40)}","level":"${random.pick(levels)}"}`
  }
}

function jsonNested(random: Random): () => string {
  const clock = clockFrom(random)
  return () =>
    JSON.stringify({
      ts: iso(clock()),
      a: { b: { c: { d: { e: { f: random.below(99), g: hex(random, 8) } }, id: random.below(10 ** 6) }, name: random.pick(words) } },
      context: { request: { http: { headers: { accept: { type: 'text/html', q: random.below(10) / 10 } } } } },
      message: sentence(random),
    })
}

function jsonArrays(random: Random): () => string {
  const clock = clockFrom(random)
  const item = () => ({ sku: hex(random, 8), price: random.below(10 ** 5) / 100, tags: [random.pick(words), random.pick(words)] })
  return () =>
    JSON.stringify({
      time: clock().getTime(),
      message: sentence(random),
      items: Array.from({ length: random.below(8) }, item),
      ids: [random.below(99), random.below(99)],
    })
}

function jsonAnyOrder(random: Random): () => string {
  const clock = clockFrom(random)
  return () => {
    const pairs = Object.entries({ time: iso(clock()), level: random.pick(levels), msg: sentence(random), ...record(random) })
    for (let at = pairs.length - 1; at > 0; at -= 1) {
      const other = random.below(at + 1)
      const [first, second] = [pairs[at], pairs[other]]
      if (first && second) [pairs[at], pairs[other]] = [second, first]
    }
    return JSON.stringify(Object.fromEntries(pairs))
  }
}

function json300Keys(random: Random): () => string {
  const clock = clockFrom(random)
  return () => {
    const line: Record<string, unknown> = { timestamp: iso(clock()), level: random.pick(levels), message: sentence(random) }
    for (let at = 0; at < 297; at += 1) line[`metric_${at}`] = at % 3 === 0 ? random.pick(words) : random.below(10 ** (1 + (at % 5)))
    return JSON.stringify(line)
  }
}

function jsonSpaced(random: Random): () => string {
  const clock = clockFrom(random)
  return () =>
    JSON.stringify({ time: iso(clock()), msg: sentence(random), ...record(random) })
      .replaceAll('":', '": ')
      .replaceAll(',"', ', "')
}

function jsonEscapes(random: Random): () => string {
  const clock = clockFrom(random)
  return () =>
    JSON.stringify({
      time: iso(clock()),
      message: `${sentence(random)}\n\tat "${random.pick(words)}"\\${random.pick(words)}`,
      path: `C:\\logs\\${random.pick(words)}\\${random.below(99)}`,
      sql: `select "a", 'b' from t where x = "${random.below(99)}" ü`,
    }).replaceAll('ü', '\\u00fc')
}

/** As writers do that escape slashes. */
function jsonSlashes(random: Random): () => string {
  const clock = clockFrom(random)
  return () => JSON.stringify({ time: iso(clock()), message: sentence(random), ...record(random) }).replaceAll('/', '\\/')
}

/** As programs do that write JSON without a library. */
function jsonTabs(random: Random): () => string {
  const clock = clockFrom(random)
  return () =>
    `{"time":"${iso(clock())}","message":"${sentence(random)}\t${random.pick(words)}","n":${random.below(999)},"path":"C:\\dir${random.below(9)}"}`
}

/** Seconds with a fraction of many digits. */
function jsonFractions(random: Random): () => string {
  const clock = clockFrom(random)
  return () =>
    `{"level":"info","ts":${clock().getTime() / 1_000}${1 + random.below(999)},"caller":"${random.pick(words)}.go:${random.below(400)}","msg":"${sentence(random)}","n":${random.below(999)}}`
}

/** Nanoseconds without the zeros at their end. */
function jsonShortTimes(random: Random): () => string {
  const clock = clockFrom(random)
  return () => {
    const digits = `${iso(clock()).slice(20, 23)}${String(random.below(10 ** 6)).padStart(6, '0')}`.replace(/0+$/, '')
    return `{"level":"info","time":"${iso(clock()).slice(0, 19)}.${digits || '1'}Z","msg":"${sentence(random)}","n":${random.below(999)}}`
  }
}

/** Each object has some of many keys. */
function jsonVariedBehindText(random: Random): () => string {
  const clock = clockFrom(random)
  return () => {
    const kept = Object.entries({ time: iso(clock()), ...record(random), status: 200, note: sentence(random) }).filter(() =>
      random.chance(0.7),
    )
    return `${iso(clock())} ${random.pick(levels)} ${sentence(random)} ${JSON.stringify(Object.fromEntries(kept))}`
  }
}

function pairsQuoted(random: Random): () => string {
  const clock = clockFrom(random)
  return () =>
    [
      `date="${iso(clock())}"`,
      `devname='fw ${random.below(20)}'`,
      `level=${random.pick(['notice', 'warning', 'error'])}`,
      `msg="${sentence(random)} \\"${random.pick(words)}\\" done"`,
      'policy=""',
      `user="${random.pick(words)} ${random.pick(words)}"`,
      'group=',
      `src=${address(random)}`,
      `dst=${address(random)}`,
      `note='it is "${random.pick(words)}"'`,
      `path="C:\\\\${random.pick(words)}\\\\${random.below(99)}"`,
      `sent=${random.below(10 ** 6)}`,
    ].join(' ')
}

function pairs40(random: Random): () => string {
  const clock = clockFrom(random)
  return () => {
    const pairs = Array.from(
      { length: 37 },
      (_, at) => `field_${at}=${at % 4 === 0 ? `"${random.pick(words)} x"` : random.below(10 ** (1 + (at % 6)))}`,
    )
    return `ts=${iso(clock())} level=${random.pick(levels).toLowerCase()} msg="${sentence(random)}" ${pairs.join(' ')}`
  }
}

function pairsTime(random: Random): () => string {
  const clock = clockFrom(random)
  return () =>
    `time="${iso(clock())}" level=${random.pick(levels).toLowerCase()} msg="${sentence(random)}" component=${random.pick(words)} n=${random.below(999)}`
}

function pairsVaried(random: Random): () => string {
  const clock = clockFrom(random)
  return () => {
    const kept = Object.entries(record(random)).filter(() => random.chance(0.7))
    return `ts=${iso(clock())} level=${random.pick(levels).toLowerCase()} msg="${sentence(random)}" ${kept.map(([name, value]) => `${name}=${value}`).join(' ')}`
  }
}

function progressLines(random: Random): () => string {
  let frame = 0
  return () => {
    frame += random.below(40)
    const seconds = frame / 30
    const clock = new Date(Math.floor(seconds * 1_000)).toISOString().slice(11, 22)
    const size = String(Math.floor(frame * 8.5)).padStart(8)
    return `frame=${String(frame).padStart(5)} fps=${String(28 + random.below(5)).padStart(3)} q=${random.below(400) / 10} size=${size}kB time=${clock} bitrate=${random.below(90_000) / 10}kbits/s speed=${random.below(40) / 10}x`
  }
}

function traceLines(random: Random): () => string {
  const clock = clockFrom(random)
  const waiting: string[] = []
  return () => {
    const next = waiting.shift()
    if (next !== undefined) return next
    for (let frame = 10 + random.below(20); frame > 0; frame -= 1) {
      waiting.push(`\tat org.example.${random.pick(words)}.${random.pick(words)}.${random.pick(verbs)}(Source.java:${random.below(900)})`)
    }
    waiting.push(`Caused by: java.io.IOException: ${sentence(random)}`)
    waiting.push(`\t... ${random.below(40)} more`)
    waiting.push(`    at Object.<anonymous> (/srv/app/${random.pick(words)}.js:${random.below(400)}:17)`)
    return `${iso(clock())} ERROR [main] org.example.Handler - ${sentence(random)} java.lang.IllegalStateException: broken`
  }
}

function pythonTrace(random: Random): () => string {
  const waiting: string[] = []
  return () => {
    const next = waiting.shift()
    if (next !== undefined) return next
    for (let frame = 5 + random.below(10); frame > 0; frame -= 1) {
      waiting.push(`  File "/srv/app/${random.pick(words)}.py", line ${random.below(900)}, in ${random.pick(verbs)}`)
      waiting.push(
        `    ${random.pick(words)} = self.${random.pick(verbs)}(${random.pick(words)}=${random.below(9)}, ${random.pick(words)}=None)`,
      )
    }
    waiting.push(`ValueError: ${sentence(random)}`)
    return 'Traceback (most recent call last):'
  }
}

function separated(random: Random, sign: string): () => string {
  const clock = clockFrom(random)
  return () =>
    [
      iso(clock()).slice(0, 19).replace('T', ' '),
      random.pick(levels),
      `node-${random.below(40)}`,
      random.below(10 ** 6),
      `"${sentence(random)}"`,
      '',
      address(random),
      (random.below(10 ** 6) / 1_000).toFixed(3),
      hex(random, 16),
    ].join(sign)
}

function colorLines(random: Random): () => string {
  const clock = clockFrom(random)
  return () =>
    `\x1b[90m${iso(clock())}\x1b[0m \x1b[32m${random.pick(levels)}\x1b[39m \x1b[1m${random.pick(words)}\x1b[22m ${sentence(random)} user=\x1b[33m${random.below(999)}\x1b[39m`
}

function base64Lines(random: Random): () => string {
  const clock = clockFrom(random)
  return () =>
    `${iso(clock())} INFO token ${Buffer.from(hex(random, 600 + random.below(1_200))).toString('base64')} for ${random.below(999)}`
}

function xmlLines(random: Random): () => string {
  const clock = clockFrom(random)
  return () =>
    `<event time="${iso(clock())}" level="${random.pick(levels)}"><source>${random.pick(words)}</source><message>${sentence(random)}</message><user id="${random.below(999)}" name="${random.pick(words)}"/></event>`
}

function numberLines(random: Random): () => string {
  return () =>
    Array.from({ length: 24 }, () => (random.chance(0.5) ? random.below(10 ** 6) : (random.below(10 ** 6) / 1_000).toFixed(3))).join(' ')
}

function cefLines(random: Random): () => string {
  const clock = clockFrom(random)
  return () =>
    `Nov 20 ${iso(clock()).slice(11, 19)} fw-${random.below(9)} CEF:0|Vendor|Product|1.${random.below(9)}|${random.below(999)}|${sentence(random)}|${random.below(10)}|src=${address(random)} dst=${address(random)} spt=${random.below(65_536)} msg=${sentence(random)} with blanks act=blocked cs1Label=rule cs1=${random.pick(words)}`
}

function leefLines(random: Random): () => string {
  const clock = clockFrom(random)
  return () =>
    `<13>Nov 20 ${iso(clock()).slice(11, 19)} host-${random.below(9)} LEEF:1.0|Vendor|Product|1.0|${random.below(99)}|src=${address(random)}\tdst=${address(random)}\tsev=${random.below(10)}\tcat=${random.pick(words)}\tusrName=${random.pick(words)}\tmsg=${sentence(random)}`
}

function w3cLines(random: Random): () => string {
  const clock = clockFrom(random)
  return () =>
    `${iso(clock()).slice(0, 19).replace('T', ' ')} ${address(random)} GET /${random.pick(words)}/${random.below(999)} id=${random.below(99)} 443 - ${address(random)} Mozilla/5.0+(Windows+NT+10.0;+Win64;+x64) https://example.org/ ${random.pick([200, 200, 304, 404])} 0 0 ${random.below(900)}`
}

function gcLines(random: Random): () => string {
  const clock = clockFrom(random)
  let cycle = 0
  return () => {
    cycle += 1
    const time = clock()
    return random.pick([
      `[${iso(time).replace('Z', '+0000')}][${cycle / 100}s][info][gc] GC(${cycle}) Pause Young (Normal) (G1 Evacuation Pause) ${random.below(900)}M->${random.below(400)}M(2048M) ${random.below(90_000) / 1_000}ms`,
      `[${(cycle / 100).toFixed(3)}s][info][gc,heap   ] GC(${cycle}) Eden regions: ${random.below(99)}->0(${random.below(99)})`,
      `${iso(time).replace('Z', '+0000')}: ${cycle}.123: [GC (Allocation Failure) [PSYoungGen: ${random.below(99_999)}K->${random.below(9_999)}K(76288K)] ${random.below(99_999)}K->${random.below(9_999)}K(251392K), 0.00${random.below(99)} secs] [Times: user=0.0${random.below(9)} sys=0.00, real=0.01 secs]`,
    ])
  }
}

function windowsLines(random: Random): () => string {
  const clock = clockFrom(random)
  return () => {
    const time = iso(clock())
    return `11/20/2025 ${time.slice(11, 19)} AM LogName=Security EventCode=${4_600 + random.below(99)} EventType=0 ComputerName=WIN-${hex(random, 6)} SourceName=Microsoft Windows security auditing. Type=Information RecordNumber=${random.below(10 ** 8)} Keywords=Audit Success Message=An account was successfully logged on. Subject: Security ID: S-1-5-18 Account Name: ${random.pick(words)}$ Logon ID: 0x${hex(random, 5)}`
  }
}

function zeroBytes(random: Random): () => string {
  const clock = clockFrom(random)
  return () => [...`${iso(clock())} ${random.pick(levels)} ${sentence(random)}`].join('\0')
}

function crlfLines(random: Random): () => string {
  const clock = clockFrom(random)
  return () => `${iso(clock())} ${random.pick(levels)} ${random.pick(words)}: ${sentence(random)}\r`
}

function indentedLines(random: Random): () => string {
  const clock = clockFrom(random)
  return () =>
    `    ${iso(clock())} ${random.pick(levels)} ${random.pick(words)}: ${sentence(random)} id=${random.below(999)} took=${random.below(99)}ms`
}

function longText(random: Random): () => string {
  const clock = clockFrom(random)
  return () => `${iso(clock())} ${random.pick(levels)} ${Array.from({ length: 40 + random.below(60) }, () => sentence(random)).join(', ')}`
}

/** Text in an encoding that is not UTF-8. The harness writes the characters as bytes. */
function latin1Lines(random: Random): () => string {
  const clock = clockFrom(random)
  return () => `${iso(clock())} ${random.pick(levels)} Fehler beim \xd6ffnen der Datei ${sentence(random)} gr\xf6\xdfe=${random.below(99)}`
}

function jsonLatin1(random: Random): () => string {
  const clock = clockFrom(random)
  return () => JSON.stringify({ time: iso(clock()), msg: `Fehler beim \xd6ffnen ${sentence(random)}`, ...record(random) })
}

/** A device without a battery. */
function timesOf1970(random: Random): () => string {
  let timeMs = 0
  return () => {
    timeMs += random.below(99)
    return `${new Date(timeMs).toISOString()} ${random.pick(levels)} ${random.pick(words)}: ${sentence(random)}`
  }
}

function apacheErrors(random: Random): () => string {
  const clock = clockFrom(random)
  return () => {
    const time = iso(clock())
    return `[Thu Nov 20 ${time.slice(11, 23)}000 2025] [core:error] [pid ${random.below(40_000)}] [client ${address(random)}:${random.below(65_536)}] AH00128: ${sentence(random)}`
  }
}

function containerRuntime(random: Random): () => string {
  const clock = clockFrom(random)
  return () =>
    `${iso(clock()).slice(0, 23)}${String(random.below(10 ** 6)).padStart(6, '0')}Z stdout F ${sentence(random)} in ${random.pick(words)}`
}

function dayFirst(random: Random): () => string {
  const clock = clockFrom(random)
  return () => `20-11-2025 ${iso(clock()).slice(11, 23)} ${random.pick(levels)} ${random.pick(words)}: ${sentence(random)}`
}

/** Without a time in front, and with texts that have escapes. */
function jsonBehindWords(random: Random): () => string {
  const clock = clockFrom(random)
  return () => {
    const line = { time: iso(clock()), ...record(random), note: `say "${random.pick(words)}"` }
    return `Got event from worker-${random.below(9)}: ${JSON.stringify(line).replaceAll('/', random.chance(0.5) ? '\\/' : '/')}`
  }
}
