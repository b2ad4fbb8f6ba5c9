import { type ConfigFields, isFields, type Path } from './kind.ts'

/** `${NAME}` takes a value from the environment; `$${NAME}` is the text `${NAME}`. */
const REFERENCE = /\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}/g

export type FilledFields = {
  fields: ConfigFields
  /** The values that came from the environment, by the name of the variable. */
  used: ReadonlyMap<string, string>
  /** The texts as they stand in the file, by the path of the value. */
  written: ReadonlyMap<string, string>
  missing: readonly { path: Path; name: string }[]
}

export const pathKey = (path: Path): string => path.join('\0')

/** Replaces the references of a document to the environment. A variable that is absent or empty is missing. */
export function fillFromEnvironment(fields: ConfigFields, env: Readonly<Record<string, string | undefined>>): FilledFields {
  const used = new Map<string, string>()
  const written = new Map<string, string>()
  const missing: { path: Path; name: string }[] = []
  const filledText = (text: string, path: Path): string =>
    text.replaceAll(REFERENCE, (whole, escaped: string, name: string) => {
      if (escaped !== '') return whole.slice(1)
      written.set(pathKey(path), text)
      const value = env[name]
      if (value === undefined || value === '') missing.push({ path, name })
      else used.set(name, value)
      return value ?? ''
    })
  return { fields: mapTexts(fields, filledText, []) as ConfigFields, used, written, missing }
}

/** Escapes texts that would be taken for references. */
export const escapeReferences = (fields: ConfigFields): ConfigFields =>
  mapTexts(fields, (text) => text.replaceAll(REFERENCE, (whole) => `$${whole}`), []) as ConfigFields

export function mapTexts(value: unknown, change: (text: string, path: Path) => string, path: Path): unknown {
  if (typeof value === 'string') return change(value, path)
  if (Array.isArray(value)) return value.map((item, at) => mapTexts(item, change, [...path, at]))
  if (!isFields(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapTexts(inner, change, [...path, name])]))
}

const SHORTEST_HIDDEN = 4

/** Hides the values of the environment in a text that is printed. Very short ones would hide half of every text. */
export function hideValues(text: string, used: ReadonlyMap<string, string>): string {
  const longestFirst = [...used].filter(([, value]) => value.length >= SHORTEST_HIDDEN).sort(([, a], [, b]) => b.length - a.length)
  return longestFirst.reduce((hidden, [name, value]) => hidden.replaceAll(value, `\${${name}}`), text)
}

/** The name of a variable for a secret: the words in capitals, other characters as `_`. */
export const variableName = (...words: readonly string[]): string => {
  const name = words
    .join('_')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
  return /^[A-Z]/.test(name) ? name : `SECRET_${name}`
}
