import type { Random } from './generated-lines.fixture.ts'
import { type FoundLeaf, type FoundText, type FoundTime, NOT_IN_LINE } from './text-line.ts'
import { formatTime } from './time-text.ts'

const LITERALS = [' ', '', ' - ', '[', '] ', ': ', ' level=', '"', '', ' (', 'é ', '<', '>1 ', '\t']
const ODD_LITERALS = ['\x01', '\x01s0\x02', '\x02', '\x03', '\0', '{', ' {', '\ufeff', '日本']
const PATHS = ['hostname', 'level', 'message', 'a', 'b', 'x', 'status', 'time', 'ts', 'msg', 'a.b']
const ODD_PATHS = ['$ingest.original_time', 'a\\b', '', '\x03', '$a', '__proto__']
const VALUES = ['info', 'ERROR', 'node-7', '', '200', '503', 'took 12 ms', 'héllo', '2024-05-01T10:20:30Z', '1714558830', '😀', 'a=b c=d']
const ODD_VALUES = ['\0', 'a\0b', '\x01', '\x02m', 'q'.repeat(200)]
const FORMATS = ['iT.3Z', 'i ,3', 's .0', 'b .0', 'B .6', 'Y .0', 'a .0 +0200', 'W .3', 'w .9', 'i .* UTC']

type Piece = (random: Random) => { text: string; leaf?: string; isTime?: boolean; worked?: [string, string] }

/** Writes lines of one form with their parsed parts. Now and then both are malformed. */
export function textForm(random: Random, atMs: number): () => { line: Uint8Array; found: FoundText } {
  const pieces = Array.from({ length: 1 + random.below(5) }, () => piece(random))
  const hasWords = random.chance(0.6)
  const hasTime = random.chance(0.7)
  const timeAt = random.below(pieces.length + 1)
  const format = random.pick(FORMATS)
  return () => {
    let text = ''
    const leaves: FoundLeaf[] = []
    let time: FoundTime | undefined
    for (let index = 0; index <= pieces.length; index += 1) {
      if (hasTime && index === timeAt) {
        time = timeIn(random, format, atMs, text.length)
        text += formatTime(time.instant ?? { ms: 0, ns: 0 }, format)
        if (random.chance(0.05)) time = { ...time, format: undefined }
      }
      const made = pieces[index]?.(random)
      if (!made) continue
      if (made.leaf !== undefined)
        leaves.push({ path: made.leaf, text: made.text, start: text.length, end: text.length + made.text.length })
      if (made.worked) leaves.push({ path: made.worked[0], text: made.worked[1], start: NOT_IN_LINE, end: NOT_IN_LINE })
      text += made.text
    }
    const somewhere = random.chance(0.03) ? random.below(text.length + 1) : text.length
    const wordsStart = text.slice(0, somewhere).isWellFormed() ? somewhere : text.length
    let words = hasWords ? random.pick(VALUES) + random.pick(VALUES) : ''
    if (hasWords && random.chance(0.2)) words += repeatedKey(random, leaves, text.length + words.length)
    const severity = random.chance(0.05) ? ('error' as const) : undefined
    return { line: Buffer.from(text + words), found: { text: text + words, leaves, time, severity, wordsStart } }
  }
}

/** A key that is repeated among the words. Adds its leaves. */
function repeatedKey(random: Random, leaves: FoundLeaf[], from: number): string {
  const path = random.pick(PATHS)
  let words = ''
  for (const text of [random.pick(VALUES), random.pick(VALUES)]) {
    words += ` ${path}=`
    const start = from + words.length
    leaves.push({ path, text, start, end: start + text.length })
    words += text
  }
  return words
}

function piece(random: Random): Piece {
  const path = random.chance(0.05) ? random.pick(ODD_PATHS) : random.pick(PATHS)
  const literal = random.pick(LITERALS)
  const kind = random.below(10)
  if (kind < 3) return (chance) => ({ text: chance.chance(0.03) ? chance.pick(ODD_LITERALS) : literal })
  if (kind < 9) return (chance) => ({ text: chance.chance(0.03) ? chance.pick(ODD_VALUES) : chance.pick(VALUES), leaf: path })
  return (chance) => ({ text: '', worked: [path, chance.pick(VALUES)] })
}

function timeIn(random: Random, format: string, atMs: number, start: number): FoundTime {
  const ms = random.chance(0.1) ? Date.UTC(random.pick([1999, 2030]), 0, 1) : atMs - random.below(10 ** 9)
  const digits = format.charAt(3) === '*' ? 9 : Number(format.charAt(3))
  const exact = digits === 0 ? Math.floor(ms / 1_000) * 1_000 : ms
  const ns = digits > 3 ? Math.floor(random.below(1_000_000) / 1_000) * 1_000 : 0
  const instant = { ms: exact, ns: digits === 9 ? ns + random.below(1_000) : ns }
  return { instant, format, start, end: start + formatTime(instant, format).length }
}
