/** Attributes that the service adds on ingestion. They are no labels of a stream, but structured metadata. */
const INTERNAL = /^\$(?:ingest\.|loki\.dropped_)/

/** Returns a key as a name of a label. */
export function labelNameOf(key: string): string {
  const name = key.replaceAll(/[^a-zA-Z0-9_]/g, '_')
  return name === '' || /^\d/.test(name) ? `_${name}` : name
}

export const isStreamAttribute = (key: string): boolean => key.startsWith('$') && key.length > 1 && !INTERNAL.test(key)

/** The key without the mark of an attribute. */
export const baseOf = (key: string): string => (key.startsWith('$') ? key.slice(1) : key)

/** The labels that every event has, unless an attribute has the name. */
export const builtInLabels: ReadonlyMap<string, string> = new Map([
  ['collection', '@collection'],
  ['dataset', '@dataset'],
  ['level', '@status'],
])

/** Structured metadata that every event has, unless a field or an attribute has the name. */
export const builtInMetadata: ReadonlyMap<string, string> = new Map([...builtInLabels, ['detected_level', '@status']])

/** Several keys may have the same name of a label: the one that is spelled like it comes first, then by the order of their text. */
export function compareBases(name: string, one: string, other: string): number {
  if ((one === name) !== (other === name)) return one === name ? -1 : 1
  return one < other ? -1 : one > other ? 1 : 0
}

/** Finds the keys of labels among the known keys of datasets. */
export class LabelKeys {
  readonly #bases = new Map<string, Set<string>>()
  readonly #attributes = new Set<string>()
  readonly #streamNames = new Set<string>(builtInLabels.keys())

  constructor(keys: Iterable<string>) {
    for (const key of keys) {
      if (key.startsWith('@')) continue
      const base = baseOf(key)
      const name = labelNameOf(base)
      this.#bases.set(name, (this.#bases.get(name) ?? new Set()).add(base))
      if (!isStreamAttribute(key)) continue
      this.#attributes.add(base)
      this.#streamNames.add(name)
    }
  }

  /** The names of the labels that a stream may have. */
  get streamNames(): string[] {
    return [...this.#streamNames].sort()
  }

  /** Whether an attribute takes the place of a label that every event has. */
  isOverridden(name: string): boolean {
    return [...(this.#bases.get(name) ?? [])].some((base) => this.#attributes.has(base))
  }

  /** The keys that hold a label of the stream, in order: an event's value is that of the first key that it has. */
  streamKeys(name: string): string[] {
    const attributes = this.#basesOf(name)
      .map((base) => `$${base}`)
      .filter(isStreamAttribute)
    const builtIn = builtInLabels.get(name)
    return builtIn === undefined ? attributes : [...attributes, builtIn]
  }

  /** The same for a label behind the selector, where fields count too. A key without `$` also reads the attribute. */
  pipelineKeys(name: string): string[] {
    const builtIn = builtInMetadata.get(name)
    return builtIn === undefined ? this.#basesOf(name) : [...this.#basesOf(name), builtIn]
  }

  /** Whether a field or an attribute of the datasets has the name, so that conditions on it need no parser. */
  isKnown(name: string): boolean {
    return this.#bases.has(name)
  }

  /** Whether exactly one key of the datasets can hold a label. */
  isUnambiguous(name: string): boolean {
    return !builtInMetadata.has(name) && (this.#bases.get(name)?.size ?? 1) === 1
  }

  /** Keys that are rare have no column and are not known. If none is known, the name itself and the name with dots are tried. */
  #basesOf(name: string): string[] {
    const known = this.#bases.get(name)
    if (known) return [...known].sort((one, other) => compareBases(name, one, other))
    const guesses = [name, name.replaceAll('_', '.')].filter((guess) => labelNameOf(guess) === name && /[^.]/.test(guess))
    return [...new Set(guesses)]
  }
}
