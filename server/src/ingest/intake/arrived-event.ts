import type { DatasetPlace } from '../../ingest-rules/arriving-event.ts'
import type { RuleRun } from '../../ingest-rules/rule-run.ts'
import type { Arrival } from '../../lines/reference/event.ts'
import { type EventValues, OwnValues, readPattern, readValues } from '../../lines/reference/reference.ts'
import type { FoundText } from '../../lines/reference/text-line.ts'
import { toNs } from '../../lines/values/time-text.ts'
import type { EventLeaves, MatchableEvent } from '../../query/matchable-event.ts'
import { messageReader } from '../detect/message-reader.ts'
import { detectedIn, isObject } from './arrivals.ts'

/** What an event is read with. */
type EventFacts = {
  readonly run: Pick<RuleRun, 'familyOf'>
  readonly place: DatasetPlace
  readonly open: ReadonlySet<string>
}

/** The values of a JSON line. What its message contains is read only for keys that the line does not have. */
class OwnLeaves {
  readonly #own: OwnValues
  readonly #all: () => EventLeaves

  constructor(line: Uint8Array, all: () => EventLeaves) {
    this.#own = new OwnValues(line)
    this.#all = all
  }

  get(key: string): string | undefined {
    return (key.startsWith('$') ? undefined : this.#own.get(key)) ?? this.#all().get(key)
  }
}

/** An event that is not stored yet, as filters see it. Its values are read when a filter needs them. */
export class ArrivedEvent implements MatchableEvent {
  readonly seq = 0n
  readonly collection: string
  readonly dataset: string
  readonly #line: Uint8Array
  readonly #arrival: Arrival
  #raw: string | undefined
  #values: EventValues | undefined
  #leaves: EventLeaves | undefined
  #pattern: bigint | undefined
  readonly #facts: EventFacts

  constructor(line: Uint8Array, arrival: Arrival, facts: EventFacts) {
    this.#line = line
    this.#arrival = arrival
    this.collection = facts.place.collection
    this.dataset = facts.place.dataset
    this.#facts = facts
  }

  get skeleton(): bigint {
    const { open } = this.#facts
    this.#pattern ??= readPattern(this.#line, this.#arrival, { found: this.#found(), messages: messageReader }, open)
    return this.#pattern
  }

  /** The family of its pattern. */
  get family(): bigint {
    return this.#facts.run.familyOf(this.skeleton) ?? this.skeleton
  }

  get raw(): string {
    const { buffer, byteOffset, length } = this.#line
    this.#raw ??= Buffer.from(buffer, byteOffset, length).toString('utf8')
    return this.#raw
  }

  get leaves(): EventLeaves {
    if (this.#values) return this.#values.leaves
    this.#leaves ??=
      isObject(this.#line) && this.#arrival.attributes.length === 0
        ? new OwnLeaves(this.#line, () => this.#read().leaves)
        : this.#read().leaves
    return this.#leaves
  }

  get timeNs(): bigint {
    return toNs(this.#read().time)
  }

  get severity(): string {
    return this.#read().severity
  }

  get origin(): string {
    return this.#arrival.origin
  }

  #read(): EventValues {
    this.#values ??= readValues(this.#line, this.#arrival, { found: this.#found(), messages: messageReader })
    return this.#values
  }

  #found(): FoundText | undefined {
    return isObject(this.#line) ? undefined : detectedIn(this.#line, this.#arrival.at)
  }
}
