import { type ConfigProblem, UnreadableConfig } from './agent.ts'

/** How a configuration language writes comments and quoted text. */
export type ConfigGrammar = { readonly lineComments: readonly string[]; readonly quotes: string; readonly rawQuotes: string }

const OPEN = '([{'
const CLOSE = ')]}'

/** Blanks comments and quoted text at equal length, so that every remaining bracket and word is code. */
export function masked(text: string, { lineComments, quotes, rawQuotes }: ConfigGrammar): string {
  const parts: string[] = []
  let at = 0
  const blank = (to: number): void => {
    parts.push(text.slice(at, to).replaceAll(/[^\n]/g, ' '))
    at = to
  }
  while (at < text.length) {
    const sign = text[at] ?? ''
    if (text.startsWith('/*', at)) blank(endOf(text, '*/', at + 2))
    else if (lineComments.some((start) => text.startsWith(start, at))) blank(indexOrEnd(text, '\n', at))
    else if (quotes.includes(sign) || rawQuotes.includes(sign)) {
      const end = quoteEnd(text, at, rawQuotes.includes(sign))
      if (end === undefined) throw new UnreadableConfig([{ line: lineAt(text, at), message: 'a quote is opened and never closed' }])
      parts.push(sign)
      at += 1
      blank(end)
      parts.push(sign)
      at += 1
    } else {
      parts.push(sign)
      at += 1
    }
  }
  return parts.join('')
}

const indexOrEnd = (text: string, what: string, from: number): number => {
  const found = text.indexOf(what, from)
  return found < 0 ? text.length : found
}
const endOf = (text: string, what: string, from: number): number => Math.min(text.length, indexOrEnd(text, what, from) + what.length)

function quoteEnd(text: string, start: number, isRaw: boolean): number | undefined {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\' && !isRaw) at += 1
    else if (text[at] === text[start]) return at
  }
  return undefined
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length

/** Maps positions to line numbers without counting from the start each time. */
export function lineFinder(text: string): (index: number) => number {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)]
  return (index) => {
    let [low, high] = [0, starts.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= index) low = middle
      else high = middle
    }
    return low + 1
  }
}

/** Pairs every bracket with its end; throws for unbalanced brackets. */
export function closings(text: string, mask: string): Map<number, number> {
  const [pairs, waiting]: [Map<number, number>, number[]] = [new Map(), []]
  const fail = (index: number, message: string): UnreadableConfig =>
    new UnreadableConfig([{ line: lineAt(text, index), message } satisfies ConfigProblem])
  for (let at = 0; at < mask.length; at += 1) {
    const sign = mask[at] ?? ''
    if (OPEN.includes(sign)) waiting.push(at)
    if (!CLOSE.includes(sign)) continue
    const open = waiting.pop()
    if (open === undefined || OPEN.indexOf(mask[open] ?? '') !== CLOSE.indexOf(sign)) throw fail(at, `${sign} closes nothing`)
    pairs.set(open, at)
  }
  const left = waiting.at(-1)
  if (left !== undefined) throw fail(left, `${mask[left]} is opened and never closed`)
  return pairs
}
