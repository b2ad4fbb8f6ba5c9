import type { LogqlToken } from './scan.ts'
import { echoed } from './syntax-error.ts'
import type { LogqlTokens } from './tokens.ts'

const STEP = /(?:^|\.)([a-zA-Z_@$][\w@$-]*)|\["((?:[^"\\]|\\.)*)"\]|\[(\d{1,9})\]/y

/** Parses the place of a value within a line, such as `a.b[0]["c d"]`. */
export function parseFieldPath(tokens: LogqlTokens, { text, position }: LogqlToken): (string | number)[] {
  const path: (string | number)[] = []
  for (let at = 0; at < text.length; ) {
    STEP.lastIndex = at
    const step = STEP.exec(text)
    if (!step) throw tokens.error({ position }, `cannot read the place ${echoed(text)} of a value`)
    const [whole, name, quoted, index] = step
    path.push(index === undefined ? (name ?? (quoted ?? '').replaceAll(/\\(.)/g, '$1')) : Number(index))
    at += whole.length
  }
  if (path.length === 0) throw tokens.error({ position }, 'the place of a value is empty')
  return path
}
