import { type FoundLeaf, leafAt } from '../../lines/reference/text-line.ts'
import { ESCAPE } from '../../lines/reference/walk.ts'

/** Such a word is a level only near the beginning of a text. */
const LEVEL_CHARS = 80
const levels = new Set('TRACE DEBUG INFO NOTICE WARN WARNING ERROR ERR SEVERE FATAL CRITICAL CRIT ALERT EMERG PANIC'.split(' '))
/** A level in upper or lower case, alone in brackets or after a module name. */
const BRACKETED = /\[(?:\w+:)?([A-Za-z]{3,8})\]/y
/** What follows the escape character in the code of a color. */
const COLOR = /\[[\d;]*m/y
const OPENING = 0x5b
const FIRST = 1
const BEFORE = 2
const BEHIND = 4
const SPACE = 8

/** Classifies characters: a level may begin with one, follow one, or end before one. */
const kinds = makeKinds()

function makeKinds(): Uint8Array {
  const made = new Uint8Array(128)
  const mark = (chars: string, kind: number) => {
    for (const char of chars) made[char.charCodeAt(0)] = (made[char.charCodeAt(0)] ?? 0) | kind
  }
  for (const level of levels) mark(level.charAt(0), FIRST)
  mark('[(<|:', BEFORE)
  mark('])>|:,\x1b', BEHIND)
  mark(' \t\n\v\f\r', BEFORE | BEHIND | SPACE)
  return made
}

const kindOf = (text: string, at: number): number => kinds[text.charCodeAt(at)] ?? 0

/** Finds a level in capitals or in brackets. It may be written in a color. */
export function levelIn(text: string, start: number): FoundLeaf | undefined {
  const end = Math.min(text.length, start + LEVEL_CHARS)
  let mayBegin = true
  for (let at = start; at < end; at += 1) {
    if (text.charCodeAt(at) === ESCAPE) {
      const behind = behindColor(text, at)
      mayBegin = behind > at
      if (mayBegin) at = behind - 1
      continue
    }
    const kind = kindOf(text, at)
    const found = mayBegin && kind & FIRST ? capitals(text, at) : text.charCodeAt(at) === OPENING ? bracketed(text, at) : undefined
    if (found) return found
    mayBegin = (kind & BEFORE) !== 0
  }
  return undefined
}

/** The position behind the code of a color; that of the escape character for none. */
function behindColor(text: string, at: number): number {
  COLOR.lastIndex = at + 1
  return COLOR.test(text) ? COLOR.lastIndex : at
}

function capitals(text: string, start: number): FoundLeaf | undefined {
  let end = start
  for (let code = text.charCodeAt(end); code >= 0x41 && code <= 0x5a; code = text.charCodeAt(end)) end += 1
  if (end < text.length && !(kindOf(text, end) & BEHIND)) return undefined
  const word = text.slice(start, end)
  return levels.has(word) ? leafAt('level', word, start) : undefined
}

function bracketed(text: string, start: number): FoundLeaf | undefined {
  BRACKETED.lastIndex = start
  const word = BRACKETED.exec(text)?.[1]
  if (word === undefined || !levels.has(word.toUpperCase())) return undefined
  return leafAt('level', word, BRACKETED.lastIndex - 1 - word.length)
}
