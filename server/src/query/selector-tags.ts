import { diagnosticAt, echo } from '@dendro/language/language-error'
import type { Selector } from '@dendro/language/selector'
import { refusal } from './query.ts'

const ITEMS_MAX = 500
/** Both sides of an item are quoted, with quotes doubled, or plain without colon, equals sign and quote. */
const ITEM = /^(?:"((?:[^"]|"")+)"\s*|([^":=]+)):(?:\s*"((?:[^"]|"")+)"|([^":=]+))$/

/** Parses the deprecated `from_tags`, items `key:value`. Values of the same key are alternatives; all keys have to match. */
export function selectorOfTags(items: readonly string[]): Selector {
  if (items.length > ITEMS_MAX) throw refusal('from_tags', { code: 'TOO_COMPLEX', message: `has at most ${ITEMS_MAX} items` })
  const byKey = new Map<string, string[]>()
  for (const item of items) {
    const [key, value] = pairOf(item)
    const values = byKey.get(key)
    if (values) values.push(value)
    else byKey.set(key, [value])
  }
  return {
    kind: 'and',
    of: [...byKey].map(([key, values]) => ({ kind: 'in', subject: { kind: 'tag', key }, values })),
  }
}

function pairOf(item: string): [key: string, value: string] {
  const [, quotedKey, plainKey, quotedValue, plainValue] = ITEM.exec(item.trim()) ?? []
  const key = quotedKey?.replaceAll('""', '"') ?? plainKey?.trim()
  const value = quotedValue?.replaceAll('""', '"') ?? plainValue?.trim()
  if (key && value) return [key, value]
  const whole = { text: item, position: 0, length: item.length }
  const message = `'${echo(item)}' is not of the form key:value`
  throw refusal('from_tags', diagnosticAt(whole, 'BAD_TAG', message, 'put a part that contains : or = in double quotes'))
}
