import {
  addSourceCounts,
  finishPositions,
  ObjectChanged,
  type SourceBucket,
  type SourceObject,
} from '../../resources/data/sources/sources.ts'
import { object, PACKED } from '../receivers/file/file.ts'
import { packMessages } from '../receivers/kafka/messages.ts'
import type { BrokenContent } from './content.ts'
import { PositionMoved } from './content-batches.ts'
import { countLines } from './lines.ts'
import { type ObjectContent, openObject } from './object-content.ts'
import type { BucketSource, ObjectPosition, ObjectPositions } from './object-positions.ts'
import { type SourceWorld, storeSourceBatch } from './post.ts'

/** How large an object may be as it is stored, to be read with others. */
export const SMALL_BYTES = 128 * 1024
/** How many objects a group has at most. */
export const GROUP_MAX = 200
/** How large it may be when it is decompressed. */
const MEMBER_BYTES_MAX = 256 * 1024
/** No other object is read once the others have this many bytes. */
const GROUP_BYTES = 2 * 2 ** 20
const READ_AT_ONCE = 16

/** What a group needs. */
export type GroupPlace = {
  readonly world: SourceWorld
  readonly source: BucketSource
  readonly bucket: SourceBucket
  readonly positions: ObjectPositions
}

/** What became of the objects of a group: those to settle, those to read alone, and the first one that ends early. */
export type GroupEnd = { readonly settled: readonly SourceObject[]; readonly alone: readonly SourceObject[]; readonly failure?: string }

type Member = {
  readonly found: SourceObject
  readonly body: Uint8Array
  readonly broken?: BrokenContent | undefined
  /** It is read in another process, so that it is no part of a group. */
  readonly isParquet: boolean
}
type PlannedMember = Member & { readonly row: ObjectPosition }

/** Reads small objects at once, and stores them as one batch. Those that it leaves out stay as they are. */
export async function storeGroup(place: GroupPlace, objects: readonly SourceObject[]): Promise<GroupEnd> {
  const { world, positions } = place
  const [members, alone, gone] = [[] as Member[], [] as SourceObject[], [] as SourceObject[]]
  let bytes = 0
  await inParallel(objects, async (found) => {
    if (bytes >= GROUP_BYTES) return
    const member = await readMember(place, found, MEMBER_BYTES_MAX)
    if (!member) gone.push(found)
    else if (member.isParquet || member.body.length > MEMBER_BYTES_MAX) alone.push(found)
    else {
      bytes += member.body.length
      members.push(member)
    }
  })
  if (members.length === 0) return { settled: gone, alone }
  const rows = await positions.addGroup(
    world.ids.uuid(),
    members.map(({ found, body }) => ({ found, bytes: body.length })),
  )
  const planned = members.map((member, at) => ({ ...member, row: rows[at] as ObjectPosition }))
  const end = await storePlanned(place, planned, undefined)
  return { ...end, settled: [...gone, ...end.settled], alone: [...alone, ...end.alone] }
}

/** Stores a group that an earlier run has planned. An object that is gone is left out: what is stored under the key of the group counts. */
export async function repeatGroup(place: GroupPlace, rows: readonly ObjectPosition[]): Promise<GroupEnd> {
  const planned: PlannedMember[] = rows.map((row) => ({
    row,
    found: place.positions.objectOf(row),
    body: NOTHING,
    isParquet: false,
  }))
  await inParallel([...planned.entries()], async ([at, one]) => {
    const member = await readMember(place, one.found, one.row.planned_to ?? 0)
    if (member) planned[at] = { ...one, ...member, body: member.body.subarray(0, one.row.planned_to ?? 0) }
  })
  const plannedAt = Math.min(...rows.map(({ planned_at }) => planned_at ?? 0))
  return storePlanned(place, planned, Math.min(plannedAt, place.world.clock.nowMs()))
}

const NOTHING = new Uint8Array()

async function readMember({ bucket, source }: GroupPlace, found: SourceObject, bytesMax: number): Promise<Member | undefined> {
  let content: ObjectContent | undefined
  try {
    content = await openObject(bucket, source, found)
    if (content.bytes !== undefined) return { found, body: NOTHING, isParquet: true }
    // One byte more shows whether there is more.
    const body = await content.read(0, bytesMax + 1)
    return { found, body, broken: content.broken(), isParquet: false }
  } catch (thrown) {
    if (thrown instanceof ObjectChanged) return undefined
    throw thrown
  } finally {
    await content?.close()
  }
}

async function storePlanned(place: GroupPlace, planned: readonly PlannedMember[], sinceMs: number | undefined): Promise<GroupEnd> {
  const { world, source, positions } = place
  const all = planned.map(({ found }) => found)
  const full = planned.filter(({ body }) => body.length > 0)
  const body = packMessages(
    full.map(({ found, body: value }) => ({
      value,
      attributes: [
        ['$s3.bucket', source.origin.bucket],
        ['$s3.key', found.key],
      ],
    })),
  )
  const key = `${source.id}/group/${planned[0]?.row.details.group}`
  const events = full.reduce((sum, member) => sum + countLines(member.body), 0)
  const post = { parser: object, query: {}, contentType: PACKED, body, key, sinceMs, events, isWhole: false, isOfMany: true }
  const end = full.length === 0 ? NO_EVENTS : await storeSourceBatch(world, source, post)
  if (end.kind === 'too-much') {
    // Each may be refused for itself, so that one of them costs the others nothing.
    await positions.remove(planned.map(({ row }) => row))
    return { settled: [], alone: all }
  }
  const broken = planned.filter((member) => member.broken)
  await finish(place, planned, { ...end, refused: end.refused + broken.length })
  const [first] = broken
  return { settled: all, alone: [], ...(first ? { failure: `${first.found.key}: ${first.broken?.message}` } : {}) }
}

const NO_EVENTS = { kind: 'stored', events: 0, refused: 0 } as const

async function finish(
  { world, source, positions }: GroupPlace,
  planned: readonly PlannedMember[],
  { events, refused }: { events: number; refused: number },
): Promise<void> {
  const nowMs = world.clock.nowMs()
  const ids = planned.map(({ row }) => row.id)
  const bytes = planned.reduce((sum, { body }) => sum + body.length, 0)
  await world.meta.write(source.org_id, async (tx) => {
    if ((await finishPositions(tx, source.id, ids, nowMs)) < ids.length) throw new PositionMoved()
    await addSourceCounts(tx, source.id, { events, bytes, refused }, nowMs)
  })
  for (const { row } of planned) positions.noteFinished(row)
}

async function inParallel<Item>(items: readonly Item[], use: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values()
  let isFailed = false
  const work = async (): Promise<void> => {
    for (const item of rest) {
      if (isFailed) return
      await use(item).catch((thrown) => {
        isFailed = true
        throw thrown
      })
    }
  }
  await Promise.all(Array.from({ length: READ_AT_ONCE }, work))
}
