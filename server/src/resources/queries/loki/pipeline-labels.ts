import type { EventLabels, LabelSet } from './event-labels.ts'
import { builtInMetadata, FIELD_ENDING } from './label-names.ts'

export const ERROR_LABEL = '__error__'
export const ERROR_DETAILS_LABEL = '__error_details__'

/** The labels of an event while it passes through a pipeline. */
export class PipelineLabels {
  readonly #given: EventLabels
  readonly #set = new Map<string, string>()
  readonly #removed = new Set<string>()

  constructor(given: EventLabels) {
    this.#given = given
  }

  /** Returns '' for an absent label. */
  get(name: string): string {
    return this.find(name) ?? ''
  }

  find(name: string): string | undefined {
    const own = this.#set.get(name)
    if (own !== undefined || this.#removed.has(name)) return own
    return this.#given.metadata.get(name) ?? this.#given.stream.get(name)
  }

  get hasError(): boolean {
    return this.#set.has(ERROR_LABEL)
  }

  set(name: string, value: string): void {
    this.#set.set(name, value)
    this.#removed.delete(name)
  }

  /** Adds a label that a parser found. A label of the stream keeps its name, and of several values with one name the first counts. */
  extract(name: string, value: string, found: Set<string>): void {
    const isTaken = this.#given.stream.has(name) || builtInMetadata.has(name)
    const own = isTaken ? `${name}${FIELD_ENDING}` : name
    if (found.has(own)) return
    found.add(own)
    this.set(own, value)
  }

  fail(error: string, details: string): void {
    this.set(ERROR_LABEL, error)
    this.set(ERROR_DETAILS_LABEL, details)
  }

  remove(name: string): void {
    this.#set.delete(name)
    this.#removed.add(name)
  }

  get names(): ReadonlySet<string> {
    const names = new Set([...this.#given.stream.keys(), ...this.#given.metadata.keys(), ...this.#set.keys()])
    return new Set([...names].filter((name) => this.find(name) !== undefined))
  }

  /** The labels of the stream that were neither removed nor replaced. */
  get stream(): LabelSet {
    return this.#without(this.#given.stream)
  }

  get metadata(): LabelSet {
    return this.#without(this.#given.metadata)
  }

  /** The labels that the pipeline has set. Empty ones count as absent. */
  get parsed(): LabelSet {
    return new Map([...this.#set].filter(([, value]) => value !== ''))
  }

  #without(labels: LabelSet): LabelSet {
    if (this.#set.size === 0 && this.#removed.size === 0) return labels
    return new Map([...labels].filter(([name]) => !this.#set.has(name) && !this.#removed.has(name)))
  }
}
