import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { randomFrom } from '../server/src/lines/reference/generated-lines.fixture.ts'
import { kinds as oddKinds } from './ingest/line-kinds-data.ts'
import { makers } from './ingest/shred-data.ts'
import { splitter } from './ingest/split-posts.ts'
import { median, printTable } from './stand/service.ts'

/**
 * CPU seconds for each GB of lines of one kind that a worker turns into blocks, in one thread; each kind has a process of its own. "First" is the first
 * round, with its compilation; the other figure is the median of the later rounds. Two versions with one hash give equal blocks.
 * node bench/line-kinds.ts [megabytes of a round] [rounds] [kinds]
 */
const [megabytes = 5, rounds = 4] = process.argv.slice(2, 4).map(Number)
const kinds = { ...oddKinds, ...makers }
const names = process.argv[4]?.split(',') ?? [...Object.keys(oddKinds), 'service', 'text']
const POST_BYTES = 2 ** 20

if (names.length === 1) process.stdout.write(`${JSON.stringify(measure(names[0] ?? ''))}\n`)
else {
  const rows = names.map((name): string[] => JSON.parse(ofProcess(name)))
  process.stdout.write(`node bench/line-kinds.ts ${process.argv.slice(2).join(' ')}\n\n`)
  printTable(['lines', 'bytes per line', 'first', 'CPU s/GB', 'hash of the blocks'], rows)
}

function ofProcess(name: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, [import.meta.filename, String(megabytes), String(rounds), name], {
    encoding: 'utf8',
  })
  if (stderr) throw new Error(stderr)
  return stdout
}

function measure(name: string): string[] {
  const make = kinds[name]
  if (!make) throw new Error(`there are no lines of the kind ${name}`)
  const next = make(randomFrom(1))
  const splitPost = splitter()
  const hash = createHash('sha256')
  const figures: number[] = []
  let [size, lines] = [0, 0]
  for (let round = 0; round < rounds; round += 1) {
    const posts = Array.from({ length: Math.ceil((megabytes * 1e6) / POST_BYTES) }, () => postOf(next))
    const before = process.cpuUsage()
    const split = posts.map(splitPost)
    const { user, system } = process.cpuUsage(before)
    const bytes = posts.reduce((sum, { length }) => sum + length, 0)
    figures.push((user + system) / 1e6 / (bytes / 1e9))
    size += bytes
    for (const { blocks, rows } of split) {
      lines += rows
      for (const { columns } of blocks) for (const column of columns) hash.update(column.name).update(column.bytes)
    }
  }
  const [first = Number.NaN, ...later] = figures
  return [name, (size / lines).toFixed(0), first.toFixed(0), median(later).toFixed(1), hash.digest('hex').slice(0, 10)]
}

/** Characters are bytes, so that a kind may have any. */
function postOf(next: () => string): Buffer {
  const lines: string[] = []
  for (let size = 0; size < POST_BYTES; ) {
    const line = next()
    lines.push(line)
    size += line.length + 1
  }
  return Buffer.from(`${lines.join('\n')}\n`, 'latin1')
}
