/**
 * Attributes that receivers set for single events: they are no labels of a stream, but structured metadata. Attributes that senders name
 * are known by the receiver that stored them (`ofEvents` of a dataset's slots).
 */
const OF_EVENTS = /^\$(?:ingest\.|otel\.|span\.|\w+\.dropped_)/

/** Returns a key as a name of a label. */
export function labelNameOf(key: string): string {
  const name = key.replaceAll(/[^a-zA-Z0-9_]/g, '_')
  return name === '' || /^\d/.test(name) ? `_${name}` : name
}

export const isStreamAttribute = (key: string): boolean => key.startsWith('$') && key.length > 1 && !OF_EVENTS.test(key)

/** The key without the mark of an attribute. */
export const baseOf = (key: string): string => (key.startsWith('$') ? key.slice(1) : key)

/** The labels that every event has, unless an attribute has the name. */
export const builtInLabels: ReadonlyMap<string, string> = new Map([
  ['collection', '@collection'],
  ['dataset', '@dataset'],
  ['level', '@status'],
])

/** The labels and metadata that every event has after the selector. */
export const builtInMetadata: ReadonlyMap<string, string> = new Map([...builtInLabels, ['detected_level', '@status']])

/** A label keeps its name; a field of the event with the same name gets this ending, as a label does that a parser finds. */
export const FIELD_ENDING = '_extracted'

/** Several keys may have the same name of a label: the one that is spelled like it comes first, then by the order of their text. */
export function compareBases(name: string, one: string, other: string): number {
  if ((one === name) !== (other === name)) return one === name ? -1 : 1
  return one < other ? -1 : one > other ? 1 : 0
}

/** The known keys of a dataset, and which of them are attributes of single events. */
export type DatasetKeys = { readonly keys: Iterable<string>; readonly ofEvents: ReadonlySet<string> }

/** Finds the keys of labels among the known keys of datasets. An attribute that is a label in one of them is a label. */
export class LabelKeys {
  readonly #bases = new Map<string, Set<string>>()
  readonly #labels = new Set<string>()
  /** Attributes of events. */
  readonly #others = new Set<string>()
  readonly #fields = new Set<string>()
  readonly #streamNames = new Set<string>(builtInLabels.keys())

  constructor(datasets: Iterable<DatasetKeys>) {
    for (const { keys, ofEvents } of datasets) for (const key of keys) this.#add(key, isStreamAttribute(key) && !ofEvents.has(key))
    for (const key of this.#labels) this.#others.delete(key)
  }

  #add(key: string, isLabel: boolean): void {
    if (key.startsWith('@')) return
    const base = baseOf(key)
    const name = labelNameOf(base)
    this.#bases.set(name, (this.#bases.get(name) ?? new Set()).add(base))
    if (isLabel) {
      this.#labels.add(key)
      this.#streamNames.add(name)
    } else if (key.startsWith('$')) this.#others.add(key)
    else this.#fields.add(key)
  }

  /** The names of the labels that a stream may have. */
  get streamNames(): string[] {
    return [...this.#streamNames].sort()
  }

  /** Whether the value of a key is a label of its event. Rare attributes are not known, and count as labels. */
  isLabel(key: string): boolean {
    return isStreamAttribute(key) && !this.#others.has(key)
  }

  /** Whether an attribute takes the place of a label that every event has. */
  isOverridden(name: string): boolean {
    return [...(this.#bases.get(name) ?? [])].some((base) => this.#labels.has(`$${base}`))
  }

  /** The keys that hold a label of the stream, in order: an event's value is that of the first key that it has. */
  streamKeys(name: string): string[] {
    const attributes = this.#basesOf(name)
      .map((base) => `$${base}`)
      .filter((key) => this.isLabel(key))
    const builtIn = builtInLabels.get(name)
    return builtIn === undefined ? attributes : [...attributes, builtIn]
  }

  /** The keys that hold a label after the selector, in order. There fields count too if the event has no label of the name. */
  pipelineKeys(name: string): string[] {
    const field = this.#fieldRenamedTo(name)
    if (field !== undefined) return this.#basesOf(field)
    if (builtInLabels.has(name)) return this.streamKeys(name)
    const builtIn = builtInMetadata.get(name)
    // A key without `$` also reads the attribute.
    if (!this.#bases.has(name)) return [...this.#basesOf(name), ...(builtIn === undefined ? [] : [builtIn])]
    const fields = this.#basesOf(name).filter((base) => this.#fields.has(base) || !this.#labels.has(`$${base}`))
    return [...this.streamKeys(name), ...fields, ...(builtIn === undefined ? [] : [builtIn])]
  }

  /** Whether the keys of a label after the selector hold its value. Of a field that only some labels rename, they do not. */
  isStored(name: string): boolean {
    const field = this.#fieldRenamedTo(name)
    return field === undefined || !this.isOverridden(field)
  }

  /** Whether a field or an attribute of the datasets has the name, so that conditions on it need no parser. */
  isKnown(name: string): boolean {
    return this.#bases.has(this.#fieldRenamedTo(name) ?? name)
  }

  /** Whether exactly one key of the datasets can hold a label. */
  isUnambiguous(name: string): boolean {
    if (!this.isStored(name) || builtInMetadata.has(name)) return false
    return !this.isKnown(name) || this.pipelineKeys(name).length === 1
  }

  /** The name of the fields that have this one because a label has theirs. */
  #fieldRenamedTo(name: string): string | undefined {
    if (!name.endsWith(FIELD_ENDING) || this.#bases.has(name)) return undefined
    const field = name.slice(0, -FIELD_ENDING.length)
    return this.#streamNames.has(field) ? field : undefined
  }

  /** Keys that are rare have no column and are not known. If none is known, the name itself and the name with dots are tried. */
  #basesOf(name: string): string[] {
    const known = this.#bases.get(name)
    if (known) return [...known].sort((one, other) => compareBases(name, one, other))
    const guesses = [name, name.replaceAll('_', '.')].filter((guess) => labelNameOf(guess) === name && /[^.]/.test(guess))
    return [...new Set(guesses)]
  }
}
