import type { Actor } from '../../http/actor.ts'
import { factsOfWork } from '../../http/actor.ts'
import { Failure } from '../../kernel/errors.ts'
import { allDatasets } from '../../resources/data/datasets/datasets.ts'
import { type ActiveSource, OriginError } from '../../resources/data/sources/sources.ts'
import type { SourceDirectory, World } from '../../world.ts'
import type { MessageParser } from '../batch.ts'
import type { Intake } from '../intake/intake.ts'
import { mayPass } from '../listeners/access.ts'
import type { ReaderPlaces } from '../parquet/reader-places.ts'

export type SourceWorld = Pick<World, 'clock' | 'ids' | 'log' | 'meta' | 'vault' | 'outgoing'> & {
  intake: Pick<Intake, 'storeMessages'>
  directories: readonly SourceDirectory[]
  /** The messages of topics that wait in memory, and where topics were when they were opened again. */
  queued: { bytes: number; readonly reopenedAt: Map<string, number> }
  parquetPlaces: ReaderPlaces
}

export type SourcePost = {
  parser: MessageParser
  /** Attributes of all events, or what else the parser takes from a query. */
  query: Readonly<Record<string, string>>
  /** What the parser distinguishes bodies by. */
  contentType?: string
  body: Uint8Array
  /** Every attempt with this body has it. */
  key: string
  /** Since when the batch may be stored, for one that was planned by another run. */
  sinceMs: number | undefined
  events: number
  /** True for a batch that cannot be divided. */
  isWhole: boolean
  /** True for a batch of several objects: what would be refused for good is too much for one post. */
  isOfMany?: boolean
}

/** What became of a batch: stored (also by an earlier attempt), refused for good, or too much for one post. */
export type PostEnd = { kind: 'stored'; events: number; refused: number; notes?: unknown } | { kind: 'too-much' }

/** The source or the task that a batch is stored for. */
type BatchOwner = Pick<ActiveSource, 'org_id' | 'org_number' | 'id' | 'name' | 'log_id'>

/**
 * Stores a batch of a source. A Failure that it throws may pass: the batch is sent again later. It acts as the source itself, whose id stands
 * for a key in the ledger.
 */
export async function storeSourceBatch(world: SourceWorld, source: BatchOwner, post: SourcePost): Promise<PostEnd> {
  const dataset = (await allDatasets(world, source.org_id)).find(({ id }) => id === source.log_id)
  if (!dataset) throw new OriginError('the dataset of the source does not exist any more')
  const divides = (failure: Failure): boolean => !post.isWhole && (failure.status === 413 || (post.isOfMany === true && !mayPass(failure)))
  const isLost = (failure: Failure): boolean => !mayPass(failure) && failure.status !== 422 && !divides(failure)
  try {
    const { outcome, parsed } = await world.intake.storeMessages({
      actor: actorOf(source),
      parser: post.parser,
      routing: { collection: dataset.collection, dataset: dataset.dataset, tags: {} },
      request: {
        path: '',
        query: post.query,
        headers: { 'idempotency-key': post.key },
        contentType: post.contentType ?? 'text/plain',
        body: post.body,
      },
      wireBytes: post.body.length,
      isLost,
      mayBeStoredSinceMs: post.sinceMs,
    })
    if (outcome.kind === 'refused') throw outcome.failure
    return { kind: 'stored', events: outcome.accepted, refused: outcome.rejected.length, notes: parsed?.notes }
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    // The batch was stored before, and ingest rules have changed since.
    if (thrown.status === 422) return { kind: 'stored', events: post.events, refused: 0 }
    if (divides(thrown)) return { kind: 'too-much' }
    if (isLost(thrown)) return { kind: 'stored', events: 0, refused: post.events }
    throw thrown
  }
}

const actorOf = ({ org_id, org_number, id, name }: BatchOwner): Actor => ({
  orgId: org_id,
  orgNumber: org_number,
  identity: { type: 'API_KEY_ID', id },
  name,
  roles: [],
  permissions: new Set(['events_write']),
  facts: factsOfWork('sources.read'),
})
