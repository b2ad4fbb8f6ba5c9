import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, existsSync, readFileSync, type WriteStream } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomFrom } from '../../server/src/lines/reference/generated-lines.fixture.ts'
import { writeOtlpFile } from './otlp-file.ts'
import { programLines } from './program-lines.ts'
import { sampledLines, sampledPayloads } from './sampled-data.ts'
import { makers } from './shred-data.ts'
import { textLines } from './text.ts'

/**
 * The kinds of data:
 * - `json`: requests of a service in two shapes
 * - `text`: lines of sixteen kinds of programs
 * - `otlp`: the events of `json` as OTLP/HTTP bodies
 * - `wide`: events of ninety keys with rare ones
 * - `kubernetes`: events of 120 pod templates, each with its own labels and annotations
 * - `irregular`: the same with other labels and annotations in each event
 * - `programs`: text of thirty programs with stack traces and 1 % binary bytes
 * - `real`: sampled lines of real programs, as a shipper wraps them
 * - `nested`: sampled nested objects
 *
 * The last two need a folder of samples (`sampled-data.ts`).
 */
export const dataKinds = ['json', 'text', 'otlp', 'wide', 'kubernetes', 'irregular', 'programs', 'real', 'nested'] as const
export const sampledKinds: readonly DataKind[] = ['real', 'nested']
export type DataKind = (typeof dataKinds)[number]

const jsonMakers: Partial<Record<DataKind, string>> = {
  json: 'service',
  otlp: 'service',
  wide: 'wide',
  kubernetes: 'kubernetes',
  irregular: 'irregular',
}
/** Text goes to systems that take JSON alone as the objects of a second file. */
export const isTextKind = (kind: DataKind): boolean => jsonMakers[kind] === undefined && !sampledKinds.includes(kind)

/** DataFile is a file of lines. `jsonFile` holds the same lines for those who take JSON alone: an object with `_time` and `_msg` for each line. */
export type DataFile = { kind: DataKind; file: string; jsonFile: string; bytes: number; lines: number }

const SEED = 1
const CHUNK_LINES = 5_000
const SOURCES = [
  'data.ts',
  'text.ts',
  'irregular-data.ts',
  'otlp-file.ts',
  'program-lines.ts',
  'sampled-data.ts',
  'shred-data.ts',
  '../../server/src/lines/reference/generated-lines.fixture.ts',
]

/** Generates a file of about this size, or finds the existing one. Its content is reproducible, except for the day of lines with the current time. */
export async function dataFile(kind: DataKind, bytes: number, samples?: string): Promise<DataFile> {
  const dir = join(tmpdir(), 'dendro-bench-data')
  await mkdir(dir, { recursive: true })
  const startMs = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const isSampled = sampledKinds.includes(kind)
  const day = isTextKind(kind) || isSampled ? `-${new Date(startMs).toISOString().slice(0, 10)}` : ''
  const source = isSampled ? `-${createHash('sha256').update(samplesOf(samples)).digest('hex').slice(0, 6)}` : ''
  const base = join(dir, `${kind}${source}${day}-${Math.round(bytes / 1e6)}mb-${sourceHash()}`)
  const file = `${base}.log`
  const jsonFile = isTextKind(kind) ? `${base}.ndjson` : file
  const note = `${base}.json`
  if (!existsSync(note)) {
    const made = await makeFile(kind, bytes, linesOf(kind, startMs, samples), { file, jsonFile })
    await writeFile(`${note}.new`, JSON.stringify(made))
    await rename(`${note}.new`, note)
  }
  return { kind, file, jsonFile, ...JSON.parse(readFileSync(note, 'utf8')) }
}

const DAY_MS = 86_400_000
const LINE_FEED = Buffer.from('\n')

/** Changes with the programs that generate the lines, so that no stale file is used. */
function sourceHash(): string {
  const hash = createHash('sha256')
  for (const source of SOURCES) hash.update(readFileSync(join(import.meta.dirname, source)))
  return hash.digest('hex').slice(0, 10)
}

type Files = { file: string; jsonFile: string }

/** Lines of text are of today, as they are where they arrive: an intake that finds no time in a line takes the time of its arrival. */
async function makeFile(kind: DataKind, bytesMin: number, next: NextLine, files: Files): Promise<{ bytes: number; lines: number }> {
  if (kind === 'otlp') return writeOtlpFile(files.file, linesUpTo(bytesMin, next))
  const plain = createWriteStream(files.file)
  const json = files.jsonFile === files.file ? undefined : createWriteStream(files.jsonFile)
  let bytes = 0
  let lines = 0
  while (bytes < bytesMin) {
    const made: Buffer[] = []
    let wrapped = ''
    for (let line = 0; line < CHUNK_LINES; line += 1) {
      const { line: said, timeMs } = next()
      made.push(Buffer.from(said), LINE_FEED)
      if (json) wrapped += `{"_time":"${new Date(timeMs).toISOString()}","_msg":${JSON.stringify(said.toString())}}\n`
    }
    const chunk = Buffer.concat(made)
    await put(plain, chunk)
    if (json) await put(json, Buffer.from(wrapped))
    bytes += chunk.length
    lines += CHUNK_LINES
  }
  for (const stream of [plain, json]) if (stream) await once(stream.end(), 'close')
  return { bytes, lines }
}

function* linesUpTo(bytesMin: number, next: NextLine): Generator<string> {
  for (let bytes = 0; bytes < bytesMin; ) {
    const line = next().line.toString()
    bytes += line.length
    yield line
  }
}

type NextLine = () => { line: string | Buffer; timeMs: number }

function samplesOf(samples: string | undefined): string {
  if (samples === undefined) throw new Error('sampled lines need --samples, a folder with lines/ and payloads/')
  return samples
}

function linesOf(kind: DataKind, startMs: number, samples: string | undefined): NextLine {
  if (kind === 'real') return sampledLines(samplesOf(samples), randomFrom(SEED), startMs)
  if (kind === 'nested') return sampledPayloads(samplesOf(samples), randomFrom(SEED), startMs)
  const maker = jsonMakers[kind]
  if (maker !== undefined) return jsonLines(maker)
  return kind === 'text' ? textLines(randomFrom(SEED), startMs) : programLines(randomFrom(SEED), startMs)
}

function jsonLines(maker: string): NextLine {
  const make = makers[maker]
  if (!make) throw new Error(`there are no lines of the kind ${maker}`)
  const next = make(randomFrom(SEED))
  return () => ({ line: next(), timeMs: 0 })
}

async function put(stream: WriteStream, chunk: Buffer): Promise<void> {
  if (!stream.write(chunk)) await once(stream, 'drain')
}
