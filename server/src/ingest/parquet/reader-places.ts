import type { Clock } from '../../kernel/clock.ts'

/** How many sources read Parquet at once in one process, and how many of one organization. Each of their readers may take a gigabyte of memory. */
const PLACES = 2
const PLACES_OF_ONE = 1
/** A source that asks no more does not keep others waiting. */
const REQUESTED_MS = 10_000

type PlaceOwner = { readonly id: string; readonly org_id: string }
type PlaceRequest = { readonly owner: PlaceOwner; lastMs: number }

/** The places in which sources read Parquet. None of them waits: it asks again, and who has asked longest comes first. */
export class ReaderPlaces {
  readonly #clock: Clock
  readonly #held = new Map<string, PlaceOwner>()
  readonly #requests = new Map<string, PlaceRequest>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes a place, and gives what frees it; undefined while there is none. */
  take(owner: PlaceOwner): (() => void) | undefined {
    const nowMs = this.#clock.monotonicMs()
    for (const [id, { lastMs }] of this.#requests) if (nowMs - lastMs > REQUESTED_MS) this.#requests.delete(id)
    const own = this.#requests.get(owner.id) ?? { owner, lastMs: nowMs }
    own.lastMs = nowMs
    this.#requests.set(owner.id, own)
    const all = [...this.#requests.values()]
    const before = all.slice(0, all.indexOf(own)).filter((one) => this.#isOpenTo(one.owner))
    if (!this.#isOpenTo(owner) || before.length >= PLACES - this.#held.size) return undefined
    this.#requests.delete(owner.id)
    this.#held.set(owner.id, owner)
    return () => void this.#held.delete(owner.id)
  }

  /** Whether its organization has not all of its places yet. */
  #isOpenTo({ org_id }: PlaceOwner): boolean {
    return [...this.#held.values()].filter((held) => held.org_id === org_id).length < PLACES_OF_ONE
  }
}

/** The place that one step of a source may take. Its Parquet files are read one after the other. */
export class StepPlace {
  readonly #take: () => (() => void) | undefined
  #free: (() => void) | undefined
  #last: Promise<unknown> = Promise.resolve()
  /** Whether there was no place: the step reads no Parquet. */
  isRefused = false

  constructor(places: ReaderPlaces, owner: PlaceOwner) {
    this.#take = () => places.take(owner)
  }

  /** Reads a file when those before it are read; undefined where there is no place, or `isOver` once the step has read another one. */
  use<T>(read: () => Promise<T>, isOver: () => boolean): Promise<T | undefined> {
    const used = this.#last.then(async () => {
      if (this.#free && isOver()) return undefined
      this.#free ??= this.isRefused ? undefined : this.#take()
      this.isRefused = this.#free === undefined
      return this.#free ? read() : undefined
    })
    this.#last = used.catch(() => undefined)
    return used
  }

  end(): void {
    this.#free?.()
    this.#free = undefined
  }
}
