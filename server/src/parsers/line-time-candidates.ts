import { type LineTimeCandidate, type LineTimeFormat, lineTimeFormats } from '@dendro/api'
import { type ReadLineTime, readLineTime, TIME_WITHIN_CHARS } from './line-times.ts'

/** A stored event: its line, or the message of a JSON line. */
export type StoredLine = { line: string; arrivalMs: number; storedMs: number }

const WORDS = 12
const SAMPLES = 5
const CANDIDATES_MAX = 6
/** The minimum share of lines that tell their time in one notation. */
const SHARE_MIN = 0.5
/** A notation that matches nearly as many lines as another may be meant too. */
const NEARLY = 0.95

/** Notations that read the same digits in another order. */
const orders: readonly (readonly LineTimeFormat[])[] = [
  ['YY/MM/DD hh:mm:ss', 'DD/MM/YY hh:mm:ss', 'MM/DD/YY hh:mm:ss'],
  ['DD/MM/YYYY hh:mm:ss', 'MM/DD/YYYY hh:mm:ss'],
  ['MM-DD hh:mm:ss', 'DD-MM hh:mm:ss'],
]

type Found = { format: LineTimeFormat; word: number; reads: { stored: StoredLine; read: ReadLineTime }[] }

/** Finds the times that lines tell, the best notation first. Notations that only differ in the order of date parts are all listed. */
export function findLineTimes(
  lines: readonly StoredLine[],
  timezone: string,
  isAcceptable: (ms: number, arrivalMs: number) => boolean,
): LineTimeCandidate[] {
  const found: Found[] = []
  for (let word = 0; word < WORDS; word += 1) {
    for (const format of lineTimeFormats) {
      const reads = lines.flatMap((stored) => {
        const read = readLineTime({ format, word, timezone }, stored.line.slice(0, TIME_WITHIN_CHARS), stored.arrivalMs)
        return read && isAcceptable(read.ms, stored.arrivalMs) ? [{ stored, read }] : []
      })
      if (reads.length > 0 && reads.length >= lines.length * SHARE_MIN) found.push({ format, word, reads })
    }
  }
  found.sort((a, b) => rankOf(b) - rankOf(a) || distance(a) - distance(b))
  const kept: Found[] = []
  for (const one of found) if (kept.every((better) => !overlaps(better, one) || mayMean(better, one))) kept.push(one)
  return kept.slice(0, CANDIDATES_MAX).map((one) => shown(one, kept))
}

/** More lines first, then times that need less guessing, then earlier places. */
const rankOf = ({ reads, word }: Found): number =>
  reads.length * 1_000 + (reads.every(({ read }) => read.hasZone) ? 200 : 0) + (reads.every(({ read }) => read.hasYear) ? 100 : 0) - word

/** The mean distance from arrival. */
const distance = ({ reads }: Found): number =>
  reads.reduce((sum, { read, stored }) => sum + Math.abs(stored.arrivalMs - read.ms), 0) / reads.length

/** True when both read the same characters of a line. */
function overlaps(a: Found, b: Found): boolean {
  const places = new Map(a.reads.map(({ stored, read }) => [stored, read]))
  return b.reads.some(({ stored, read }) => {
    const other = places.get(stored)
    return other !== undefined && read.start < other.end && other.start < read.end
  })
}

const mayMean = (a: Found, b: Found): boolean =>
  a.word === b.word &&
  orders.some((formats) => formats.includes(a.format) && formats.includes(b.format)) &&
  Math.min(a.reads.length, b.reads.length) >= NEARLY * Math.max(a.reads.length, b.reads.length)

function shown(one: Found, all: readonly Found[]): LineTimeCandidate {
  const { format, word, reads } = one
  return {
    format,
    word,
    matched: reads.length,
    unchanged: reads.filter(({ stored, read }) => stored.storedMs === read.ms).length,
    is_ambiguous: all.some((other) => other !== one && mayMean(one, other)),
    has_year: reads.every(({ read }) => read.hasYear),
    has_timezone: reads.every(({ read }) => read.hasZone),
    samples: reads.slice(0, SAMPLES).map(({ stored, read }) => ({
      line: stored.line.slice(0, TIME_WITHIN_CHARS),
      start: read.start,
      end: read.end,
      time: read.ms,
      stored_time: stored.storedMs,
    })),
  }
}
