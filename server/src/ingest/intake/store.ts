import type { Tags } from '@dendro/api'
import type { Actor } from '../../http/actor.ts'
import { type RuleCounts, sumOfCounts } from '../../ingest-rules/ingest-rules.ts'
import { Failure } from '../../kernel/errors.ts'
import { inSpan } from '../../kernel/own-spans.ts'
import type { LayoutFindings } from '../../lines/layout/catalog.ts'
import type { Observation } from '../../lines/layout/slots.ts'
import { partitionOf } from '../../resources/access/organizations/organizations.ts'
import { locateAll } from '../../resources/data/catalog/catalog.ts'
import { type DatasetRoute, type DatasetRow, ensureDatasets, NEW_DATASETS_MAX } from '../../resources/data/datasets/datasets.ts'
import { parserOf } from '../../resources/data/parsers/parsers.ts'
import type { IngestOutcome, IngestRequest, MessageParser, ParsedSummary } from '../batch.ts'
import { native } from '../receivers/native/native.ts'
import { arrivedOf, type DatasetShare, OWN_PROTOCOL, PostAccounting, rawBytesOf } from './accounting.ts'
import { rulesOf } from './dataset-rules.ts'
import { idempotencyKeyOf, idempotencyNumber } from './idempotency-key.ts'
import type { IntakeWorld } from './intake-world.ts'
import { growLayoutsOf } from './layouts.ts'
import { choosePeriods } from './periods.ts'
import type { PostJob, WorkerPool } from './pool.ts'
import { attributesOf, foreignName, type RoutingRequest } from './routing.ts'
import { shredInSteps } from './shred-steps.ts'
import { keepWaiting, type WaitingShare } from './waiting-shares.ts'
import type { BatchRoute, CountedBlock, MovedEvents, ParseReply, Shredded, ShredTarget } from './worker-messages.ts'

export type PostToStore = {
  actor: Actor
  receiver: MessageParser
  routing: RoutingRequest
  request: IngestRequest
  account: PostAccounting
  /** True when events of datasets whose limit is crossed are left out, so that they do not keep the others waiting. */
  leavesOutLimited?: boolean | undefined
  /** Set when the body may have been sent before, by a run that has ended: since when, in epoch milliseconds. */
  mayBeStoredSinceMs?: number | undefined
  /** Set for events that have waited for the decision about their traces: only the rules behind this position apply to them. */
  waitedAfter?: number | undefined
}
/** `leftOut` is the number of events that were left out. */
type Stored = { outcome: IngestOutcome; parsed: ParsedSummary | undefined; leftOut: number }

const IDEMPOTENCY_KEY = 'idempotency-key'
const DEFAULT = 'default'
/** Bounds how often events are split again after keys got slots; then they are stored with the existing slots. */
const SLOT_ROUNDS = 3

/** Stores the events of a complete body and returns when they are durable. */
export async function storePost(world: IntakeWorld, pool: WorkerPool, post: PostToStore): Promise<Stored> {
  const { actor, receiver, request } = post
  const job = pool.open(actor.orgId)
  try {
    const wantsHash = Boolean(request.headers[IDEMPOTENCY_KEY])
    const parse = { kind: 'parse', receiver: receiver.name, request, wantsHash } as const
    const parsed = await inSpan('internal', 'ingest parse', { 'dendro.protocol': receiver.name }, () =>
      job.run(parse, [request.body.buffer as ArrayBuffer]),
    )
    return await storeParsed(world, pool, job, { ...post, parsed }).catch(async (thrown) => {
      // A refused request is accounted with its number of events; if its worker is lost, that number is unknown.
      if (!post.account.isSplit) {
        const counted = await job.run({ kind: 'count' }).catch(() => undefined)
        post.account.events = Math.max(1, (counted?.events ?? 0) + parsed.rejected.length)
      }
      throw thrown
    })
  } finally {
    job.close()
  }
}

async function storeParsed(
  world: IntakeWorld,
  pool: WorkerPool,
  job: PostJob,
  post: PostToStore & { parsed: ParseReply },
): Promise<Stored> {
  const { actor, account, parsed, receiver, request } = post
  const nowMs = world.clock.nowMs()
  // Check limits first, so that a refused request creates no dataset.
  await world.limits.checkOpen(actor, [])
  const routed = await routeBatches(world, pool, post, parsed)
  const logIds = routed.map(({ row }) => row.id)
  account.logId = onlyOf(logIds)
  if (!post.leavesOutLimited) await world.limits.checkOpen(actor, logIds)
  const {
    shares: split,
    movedTo,
    counted,
  } = await inSpan('internal', 'ingest split', {}, () => shredAll(world, job, { ...post, nowMs }, routed))
  const shares = post.leavesOutLimited ? await withoutLimited(world, actor, account, split) : split
  await choosePeriods(world, actor.orgId, shares)
  const admission = await world.limits.admit(
    actor,
    shares.map((share) => ({ logId: share.logId, bytes: rawBytesOf(share) })),
  )
  const identity = idempotencyKeyOf(actor, receiver.name, request.headers[IDEMPOTENCY_KEY], parsed.idempotencyKey)
  const { unsupported } = parsed
  const reason = unsupported === undefined ? undefined : 'unsupported'
  const dropped = shares.reduce((sum, { ruled }) => sum + (ruled?.dropped ?? 0), 0)
  const waits = await keepWaiting(world, actor, receiver.name, { shares, identity })
  const rows = await inSpan('internal', 'ingest store', {}, () =>
    write(world, actor, account.splitByDataset(shares, unsupported ?? parsed.rejected.length, admission, reason), {
      identity,
      bodyHash: parsed.bodyHash,
      mayBeStoredSinceMs: post.mayBeStoredSinceMs,
    }),
  )
  for (const { row } of [...routed, ...movedTo]) world.beat(row.id, nowMs)
  const { rejected, total, notes } = parsed
  // The service has accepted what its rules drop.
  const accepted = rows.count + dropped - counted + waits
  const duplicates = rows.duplicate ? Array.from({ length: total || accepted }, (_, index) => index) : []
  return {
    outcome: { kind: 'stored', accepted, rejected, total: Math.max(total, accepted + rejected.length), duplicates },
    parsed: { rejected, total, notes },
    leftOut: arrivedIn(split) - arrivedIn(shares),
  }
}

const arrivedIn = (shares: readonly DatasetShare[]): number => shares.reduce((sum, share) => sum + arrivedOf(share), 0)

/** The shares of datasets whose limits are not crossed; the others count as rejected. */
async function withoutLimited<Share extends DatasetShare>(
  world: IntakeWorld,
  actor: Actor,
  account: PostAccounting,
  shares: readonly Share[],
): Promise<Share[]> {
  const limitOf = (chosen: readonly DatasetShare[]): Promise<Failure | undefined> =>
    world.limits
      .checkOpen(
        actor,
        chosen.map(({ logId }) => logId),
      )
      .then(
        () => undefined,
        (thrown: unknown) => {
          if (thrown instanceof Failure && thrown.status === 429) return thrown
          throw thrown
        },
      )
  if ((await limitOf(shares)) === undefined) return [...shares]
  const open: Share[] = []
  for (const share of shares) {
    const limit = await limitOf([share])
    if (limit === undefined) open.push(share)
    else account.noteLeftOut(share, limit)
  }
  return open
}

/** Returns the id if all ids are equal. */
const onlyOf = ([first, ...others]: readonly string[]): string | undefined => (others.every((id) => id === first) ? first : undefined)

/**
 * A dataset with its batches in the post. Many batches may share one: events for datasets beyond the limit go to the same. Only the rules behind
 * `after` apply to batches that rules have moved.
 */
type RoutedBatches = { deliveries: readonly number[]; row: DatasetRow; tags: Tags; after?: number; isCounts?: boolean }

/** Finds the dataset of each batch; the first event creates its dataset. */
async function routeBatches(
  world: IntakeWorld,
  pool: WorkerPool,
  post: PostToStore,
  { batches: deliveries }: ParseReply,
): Promise<RoutedBatches[]> {
  const { actor, routing } = post
  const otherwise = foreignName(await partitionOf(world, actor.orgId, routing.tags)) ?? DEFAULT
  const wanted = deliveries.map((summary) => routeOf(post, summary, otherwise))
  const ensured = await ensureDatasets(world, actor, wanted)
  const first = ensured.findIndex(({ overLimit }) => overLimit === 'first')
  const [place, overflow] = [wanted[first], ensured[first]]
  if (place && overflow) await warnOfOverflow(world, pool, actor, place, overflow.row)
  const numbered = ensured.map(({ row }, delivery) => ({ row, delivery }))
  return [...Map.groupBy(numbered, ({ row }) => row.id).values()].flatMap((same) =>
    same.slice(0, 1).map(({ row }) => ({
      ...{ deliveries: same.map(({ delivery }) => delivery), row, tags: routing.tags },
      ...(post.waitedAfter === undefined ? {} : { after: post.waitedAfter }),
    })),
  )
}

/** Routing headers take precedence over the names in the body. Requests cannot choose system collections. */
function routeOf({ routing, receiver }: PostToStore, said: BatchRoute, otherwise: string): DatasetRoute {
  const isSystem = said.collection !== undefined && (receiver.systemCollections ?? []).includes(said.collection)
  return {
    collection: isSystem ? (said.collection ?? DEFAULT) : (routing.collection ?? foreignName(said.collection) ?? otherwise),
    dataset: routing.dataset ?? foreignName(said.dataset) ?? DEFAULT,
    tags: routing.tags,
    isSystem,
  }
}

/** Stores a warning event in the overflow dataset, once an hour. */
async function warnOfOverflow(world: IntakeWorld, pool: WorkerPool, actor: Actor, wanted: DatasetRoute, row: DatasetRow): Promise<void> {
  world.log.warn({ org_id: actor.orgId, identity_id: actor.identity.id }, 'a sender creates more datasets than allowed')
  const event = {
    level: 'warn',
    message: `more than ${NEW_DATASETS_MAX} new datasets within an hour from ${actor.name}; events for further ones are kept in ${row.collection}/${row.dataset} until the hour is over`,
    sender: actor.identity.id,
    wanted_collection: wanted.collection,
    wanted_dataset: wanted.dataset,
  }
  const body = new TextEncoder().encode(JSON.stringify(event))
  const routing = { collection: row.collection, dataset: row.dataset, tags: {} }
  const request = { path: '/', query: {}, headers: {}, contentType: 'application/x-ndjson', body }
  const account = new PostAccounting(world.ledger, { actor, protocol: OWN_PROTOCOL })
  await storePost(world, pool, { actor, receiver: native, routing: routing, request, account })
}

type ShredPost = Pick<PostToStore, 'actor' | 'receiver' | 'routing' | 'request' | 'leavesOutLimited' | 'waitedAfter'> & { nowMs: number }

/** Lets the worker split the events, and then those that rules move to other datasets. */
async function shredAll(
  world: IntakeWorld,
  job: PostJob,
  post: ShredPost,
  routed: readonly RoutedBatches[],
): Promise<{ shares: ShredProgress[]; movedTo: readonly RoutedBatches[]; counted: number }> {
  const done = new Map<string, ShredProgress>()
  const movedTo: RoutedBatches[] = []
  // Each move leads behind the rule that makes it, so that this ends.
  for (let open = routed; open.length > 0; ) {
    const moved = await shredPlaces(world, job, post, open, done)
    open = await placesOfMoved(world, post, moved)
    movedTo.push(...open)
  }
  const shares = [...done.values()]
  return { shares, movedTo, counted: shares.reduce((sum, { counts }) => sum + counts, 0) }
}

/** Finds the datasets to which rules move events; the first event creates its dataset. */
async function placesOfMoved(world: IntakeWorld, post: ShredPost, moved: readonly MovedEvents[]): Promise<RoutedBatches[]> {
  if (moved.length === 0) return []
  const { actor, routing, leavesOutLimited } = post
  const ensured = await ensureDatasets(
    world,
    actor,
    moved.map(({ collection, dataset }) => ({ collection, dataset, tags: {}, isSystem: false })),
  )
  const places = moved.flatMap(({ batch, after, isCounts }, at) => {
    const row = ensured[at]?.row
    return row ? [{ deliveries: [batch], row, tags: isCounts ? {} : routing.tags, after, isCounts: isCounts === true }] : []
  })
  if (!leavesOutLimited) {
    await world.limits.checkOpen(
      actor,
      places.map(({ row }) => row.id),
    )
  }
  return places
}

/** Lets the worker split events, and assigns slots to new keys before they are stored. Returns the events that rules move. */
async function shredPlaces(
  world: IntakeWorld,
  job: PostJob,
  { actor, nowMs, receiver, request, waitedAfter }: ShredPost,
  places: readonly RoutedBatches[],
  done: Map<string, ShredProgress>,
): Promise<MovedEvents[]> {
  const moved: MovedEvents[] = []
  let open = [...places]
  for (let round = 1; open.length > 0; round += 1) {
    const located = await locateAll(
      world,
      actor.orgId,
      open.map(({ row }) => row.id),
    )
    const targets = await Promise.all(
      open.map((place, at) =>
        targetOf(
          world,
          receiver,
          actor,
          { ...place, hasWaited: waitedAfter !== undefined },
          { map: located[at]?.map, isLast: round >= SLOT_ROUNDS },
        ),
      ),
    )
    const shredded = await shredInSteps(job, { kind: 'shred', atMs: nowMs, origin: actor.facts.address, targets })
    const waiting: RoutedBatches[] = []
    const found = new Map<string, LayoutFindings>()
    for (const [at, one] of shredded.entries()) {
      const place = open[at]
      if (!place) throw new Error('a worker split events that were not requested')
      if (one.kind === 'keys') {
        const ofEvents = eventAttributes(one.observed, place.tags, (path) => receiver.isLabel?.(path, request) ?? true)
        found.set(place.row.id, { observed: one.observed, open: one.open, ofEvents })
        waiting.push(place)
      } else {
        collect(done, place, one)
        moved.push(...(one.ruled?.moved ?? []))
        if (one.parsed) world.parsed({ orgId: actor.orgId, logId: place.row.id, ...one.parsed }, nowMs)
      }
    }
    await growLayoutsOf(world, actor.orgId, found)
    open = waiting
  }
  return moved
}

/** The attributes among new keys that describe single events. Tags of the request describe its sender. */
function eventAttributes(observed: readonly Observation[], tags: Tags, isLabel: (path: string) => boolean): string[] {
  const ofSender = new Set(attributesOf(tags).map(([path]) => path))
  return observed.map(({ path }) => path).filter((path) => path.startsWith('$') && !ofSender.has(path) && !isLabel(path))
}

async function targetOf(
  world: IntakeWorld,
  receiver: MessageParser,
  { orgId, orgNumber }: Actor,
  { deliveries, row, tags, after, hasWaited }: RoutedBatches & { hasWaited: boolean },
  { map, isLast }: Pick<ShredTarget, 'map' | 'isLast'>,
): Promise<ShredTarget> {
  const rules = await rulesOf(world, { receiver, orgId, row, after, hasWaited })
  const parser = row.parser_id === null ? undefined : await parserOf(world, orgId, row.parser_id)
  return {
    batches: deliveries,
    orgNumber,
    logId: row.id,
    map,
    attributes: attributesOf(tags),
    rules,
    parser,
    lineTime: row.line_time ?? undefined,
    isLast,
  }
}

/** `counts` is the number of rows that rules have made. */
type ShredProgress = {
  logId: string
  blocks: CountedBlock[]
  rows: number
  counts: number
  ruled: RuleCounts | undefined
  waiting: WaitingShare[]
}

function collect(
  done: Map<string, ShredProgress>,
  { row, isCounts, tags }: RoutedBatches,
  { blocks, rows, ruled }: Extract<Shredded, { kind: 'blocks' }>,
): void {
  const filling = done.get(row.id) ?? { logId: row.id, blocks: [], rows: 0, counts: 0, ruled: undefined, waiting: [] }
  for (const block of blocks) filling.blocks.push(block)
  filling.rows += rows
  if (isCounts) filling.counts += rows
  filling.ruled = sumOfCounts(filling.ruled, ruled?.counts)
  for (const events of ruled?.waiting ?? []) filling.waiting.push({ ...events, tags })
  done.set(row.id, filling)
}

type PostIdentity = { identity: string | undefined; bodyHash: bigint; mayBeStoredSinceMs: number | undefined }

/** Stores the events of each dataset. If one part fails, the whole request fails and its sender repeats it. */
async function write(
  world: IntakeWorld,
  { orgNumber }: Actor,
  all: ReturnType<PostAccounting['splitByDataset']>,
  { identity, bodyHash, mayBeStoredSinceMs }: PostIdentity,
): Promise<{ count: number; duplicate: boolean }> {
  const written = await Promise.allSettled(
    all.map(({ share: { logId, blocks }, ended }) =>
      world.writer.write({
        orgNumber,
        logId,
        idempotencyKey: idempotencyNumber(identity, logId),
        bodyHash,
        mayBeStoredSinceMs,
        blocks,
        onSettled: ended,
      }),
    ),
  )
  const failures = written.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  if (failures.length > 0) throw failures.find(isRetryable) ?? failures[0]
  return {
    count: all.reduce((sum, { share }) => sum + share.rows, 0),
    duplicate: written.length > 0 && written.every((one) => one.status === 'fulfilled' && one.value.kind === 'duplicate'),
  }
}

const isRetryable = (thrown: unknown): boolean => thrown instanceof Failure && thrown.status === 503
