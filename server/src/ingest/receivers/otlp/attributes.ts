import type { Pair } from '../../batch.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { JsonReader } from '../json/reader.ts'
import { KeyNames } from '../names.ts'
import { type Attribute, EMPTY, MAP, SCALAR, TEXT } from './message.ts'

/** Turns attributes into keys: maps are flattened, empty values are absent. Returns how many could not be kept. */
export function toPairs(attributes: readonly Attribute[], prefix: '' | '$', pairs: Pair[]): number {
  let dropped = 0
  for (const { name, kind, text } of attributes) {
    if (kind === EMPTY) continue
    if (name === '' || pairs.length >= KEYS_MAX) dropped += 1
    else if (kind === MAP) dropped += mapPairs(prefix + name, text, pairs)
    else pairs.push([prefix + name, text])
  }
  return dropped
}

function mapPairs(name: string, json: string, pairs: Pair[]): number {
  const bytes = Buffer.from(json)
  const text = new BodyText(bytes)
  const leaves = new JsonLeaves(new JsonReader(bytes), new KeyNames(bytes, text, () => undefined), text)
  let dropped = 0
  leaves.open()
  for (let leaf = leaves.next(); leaf !== undefined; leaf = leaves.next()) {
    if (leaf.path === '' || pairs.length >= KEYS_MAX) dropped += 1
    else pairs.push([`${name}.${leaf.path}`, leaves.text()])
  }
  return dropped
}

/** Writes attributes as one object, in their order. */
export const toJson = (attributes: readonly Attribute[]): string =>
  `{${attributes.map((attribute) => `${JSON.stringify(attribute.name)}:${valueJson(attribute)}`).join(',')}}`

function valueJson({ kind, text }: Attribute): string {
  if (kind === EMPTY) return 'null'
  return kind === TEXT ? JSON.stringify(text) : text
}

/** An attribute that the receiver adds. */
export const textAttribute = (name: string, text: string): Attribute => ({ name, kind: TEXT, text })
export const jsonAttribute = (name: string, text: string): Attribute => ({ name, kind: SCALAR, text })
