import type { S3Origin } from '@dendro/api'
import {
  type ActiveSource,
  deletePositions,
  insertPosition,
  insertPositions,
  type SourceObject,
  type SourcePosition,
  selectPositions,
} from '../../resources/data/sources/sources.ts'
import { type ContentDetails, PositionMoved, saveDetails } from './content-batches.ts'
import type { SourceWorld } from './post.ts'

export type BucketSource = ActiveSource & { readonly origin: S3Origin }
/**
 * `modified` is when the object was written. The row of the horizon has no object: nothing that was written before it is read; `swept` is when all
 * of the bucket had been read that a listing found. Objects that are stored as one batch have the id of their `group`, and their place in it.
 */
type ObjectDetails = ContentDetails & {
  readonly modified: number
  readonly done?: boolean
  readonly swept?: number
  readonly group?: string
  readonly at?: number
}
export type ObjectPosition = SourcePosition<ObjectDetails>

/** An object may appear this long after the time that the bucket says it was written, as those do that are uploaded in parts. */
const LATE_MS = 6 * 3_600_000
/** How many objects are remembered as read. Beyond it, those that appear late are not read. */
export const REMEMBERED_MAX = 50_000
const HORIZON = '#horizon'

/** How far the objects of a bucket were read. While the lease is held, nobody else changes it. */
export class ObjectPositions {
  readonly #world: SourceWorld
  readonly #source: BucketSource
  readonly #rows: Map<string, ObjectPosition>

  constructor(world: SourceWorld, source: BucketSource, rows: readonly ObjectPosition[]) {
    this.#world = world
    this.#source = source
    this.#rows = new Map(rows.map((row) => [row.part ?? row.id, row]))
  }

  static async load(world: SourceWorld, source: BucketSource): Promise<ObjectPositions> {
    return new ObjectPositions(world, source, await selectPositions(world.meta, source.id))
  }

  get count(): number {
    return this.#rows.size
  }

  get horizon(): ObjectPosition | undefined {
    return this.#rows.get(HORIZON)
  }

  at(found: SourceObject): ObjectPosition | undefined {
    return this.#rows.get(partOf(found))
  }

  put(row: ObjectPosition): void {
    this.#rows.set(row.part ?? row.id, row)
  }

  /** Whether an object was read, or is older than what is read. */
  isRead(found: SourceObject): boolean {
    return found.modifiedMs < (this.horizon?.details.modified ?? 0) || this.at(found)?.details.done === true
  }

  /** The objects that were begun, without those of groups. */
  begun(): SourceObject[] {
    return this.#open().flatMap((row) => (row.details.group === undefined ? [this.objectOf(row)] : []))
  }

  /** The groups that were planned, each in the order of its objects. */
  groups(): ObjectPosition[][] {
    const rows = this.#open().filter(({ details }) => details.group !== undefined)
    return [...Map.groupBy(rows, ({ details }) => details.group).values()].map((group) =>
      group.toSorted((a, b) => (a.details.at ?? 0) - (b.details.at ?? 0)),
    )
  }

  #open(): ObjectPosition[] {
    return [...this.#rows.values()].filter(({ part, details }) => part !== HORIZON && !details.done)
  }

  /** The object of a row. Its size does not matter any more. */
  objectOf({ part, details }: ObjectPosition): SourceObject {
    const name = part ?? ''
    const end = name.indexOf(' ')
    return { tag: name.slice(0, end), key: name.slice(end + 1), size: 0, modifiedMs: details.modified }
  }

  /** Plans objects as one batch. */
  async addGroup(group: string, members: readonly { found: SourceObject; bytes: number }[]): Promise<readonly ObjectPosition[]> {
    const { meta, clock } = this.#world
    const { id: source_id, org_id } = this.#source
    const nowMs = clock.nowMs()
    const rows = members.map(({ found, bytes }, at): ObjectPosition => {
      const row = this.#newRow(partOf(found), { modified: found.modifiedMs, group, at })
      return { ...row, planned_to: bytes, planned_at: nowMs }
    })
    await meta.write(org_id, async (tx) => {
      if ((await insertPositions(tx, { org_id, source_id }, rows, nowMs)) < rows.length) throw new PositionMoved()
    })
    for (const row of rows) this.put(row)
    return rows
  }

  noteFinished(row: ObjectPosition): void {
    const { group: _, at: __, ...details } = row.details
    this.put({ ...row, position: row.planned_to ?? 0, planned_to: null, planned_at: null, details: { ...details, done: true } })
  }

  async remove(rows: readonly ObjectPosition[]): Promise<void> {
    await deletePositions(
      this.#world.meta,
      this.#source.id,
      rows.map(({ id }) => id),
    )
    for (const { part } of rows) this.#rows.delete(part ?? '')
  }

  async add(found: SourceObject): Promise<ObjectPosition> {
    const row = this.#newRow(partOf(found), { modified: found.modifiedMs })
    await this.#insert(row)
    return row
  }

  async finish(row: ObjectPosition): Promise<void> {
    this.put(await saveDetails(this.#world, this.#source, row, { ...row.details, done: true }))
  }

  /** Begins with the objects that were written at a time. */
  addHorizon(modified: number): Promise<void> {
    return this.#insert(this.#newRow(HORIZON, { modified }))
  }

  /** Saves that everything was read that a listing found at a time. */
  async noteSwept(swept: number): Promise<void> {
    const { horizon } = this
    if (horizon) this.put(await saveDetails(this.#world, this.#source, horizon, { ...horizon.details, swept }))
  }

  /** Moves the horizon behind everything that is still to be read, and forgets the objects before it. */
  async moveHorizon(oldestMs: number): Promise<void> {
    const { horizon } = this
    if (!horizon) return
    const done = [...this.#rows.values()].filter(({ part, details }) => part !== HORIZON && details.done)
    const times = done.map(({ details }) => details.modified).sort((a, b) => b - a)
    const tooOldMs = (times[REMEMBERED_MAX] ?? Number.NEGATIVE_INFINITY) + 1
    const wantedMs = Math.min(oldestMs, Math.max(oldestMs - LATE_MS, tooOldMs))
    const covered = done.filter(({ details }) => details.modified < wantedMs)
    if (covered.length === 0 || wantedMs <= horizon.details.modified) return
    this.put(await saveDetails(this.#world, this.#source, horizon, { ...horizon.details, modified: wantedMs }))
    await this.remove(covered)
  }

  #newRow(part: string, details: ObjectDetails): ObjectPosition {
    return { id: this.#world.ids.uuid(), part, position: 0, planned_to: null, planned_at: null, details }
  }

  async #insert(row: ObjectPosition): Promise<void> {
    const { meta, clock } = this.#world
    const { id, org_id } = this.#source
    if ((await insertPosition(meta, { org_id, source_id: id }, row, clock.nowMs())) === 0) throw new PositionMoved()
    this.put(row)
  }
}

/** Names an object with its content. */
export const partOf = ({ key, tag }: Pick<SourceObject, 'key' | 'tag'>): string => `${tag} ${key}`
