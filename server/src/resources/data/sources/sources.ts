import type { contract, NewSource, ReplyOf, Source, SourceOrigin, SourceState } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { checkKafkaAccess, kafkaSettings } from '../../../kafka/access.ts'
import { checkTopic } from '../../../kafka/connection.ts'
import { badField, conflict, notFound } from '../../../kernel/errors.ts'
import { countTest } from '../../../meta/counters.ts'
import type { Db } from '../../../meta/meta.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import { DeliveryError } from '../../../outgoing/outgoing.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { createdBy, modifiedBy } from '../../records.ts'
import { visibilityFor, visibleDatasets, visibleRows } from '../datasets/datasets.ts'
import { checkBucket, testBucket } from './bucket.ts'
import { checkDirectory } from './directories.ts'
import { listFiles, OriginError, openDirectory } from './files.ts'
import { checkQueue, testQueue } from './queue.ts'
import {
  countSources,
  deleteSource,
  insertSource,
  lockSource,
  type SourceRow,
  type SourceStateRow,
  selectSourceStates,
  selectSources,
  updateSourceRow,
} from './rows.ts'
import { openOriginSecrets, sealSecrets, splitOrigin } from './secrets.ts'

export { checkBucket, ObjectChanged, openSourceBucket, type SourceBucket, type SourceObject } from './bucket.ts'
export { checkDirectory } from './directories.ts'
export { listFiles, type OpenDirectory, OriginError, openDirectory, openFile, type SourceFile } from './files.ts'
export {
  advancePosition,
  deletePositions,
  finishPositions,
  insertPosition,
  insertPositions,
  movePosition,
  planPosition,
  type SourcePosition,
  selectPositions,
} from './position-rows.ts'
export { openSourceQueue, type QueueMessage, type SourceQueue } from './queue.ts'
export {
  type ActiveSource,
  addSourceCounts,
  holdSource,
  noteSourceCheck,
  noteSourceFailure,
  noteSourceWaiting,
  releaseAllSources,
  releaseSources,
  selectActiveSources,
  wasChecked,
} from './rows.ts'
export { openOriginSecrets, sealSecrets, splitBucket } from './secrets.ts'

type SourceTest = ReplyOf<typeof contract.sources.test>
type MetaReader = Pick<World, 'meta'>

const SOURCES_MAX = 100
const TESTS_MAX = 20

/** Newest first. Sources of datasets that are hidden from the caller are omitted. */
export async function listSources(world: MetaReader, actor: Actor): Promise<Source[]> {
  const rows = await visibleSources(world, actor)
  const states = new Map((await selectSourceStates(world.meta, actor.orgId)).map((state) => [state.source_id, state]))
  return rows.map((row) => sourceReply(row, states.get(row.id)))
}

const visibleSources = async (world: MetaReader, actor: Actor): Promise<readonly SourceRow[]> =>
  visibleRows(await visibilityFor(world, actor), await selectSources(world.meta, actor.orgId), ({ log_id }) => [{ from: [log_id] }])

export async function findSource(world: MetaReader, actor: Actor, id: string): Promise<SourceRow> {
  const found = (await visibleSources(world, actor)).find((row) => row.id === id)
  if (!found) throw notFound('source', id)
  return found
}

export async function getSource(world: MetaReader, actor: Actor, row: SourceRow): Promise<Source> {
  const states = await selectSourceStates(world.meta, actor.orgId)
  return sourceReply(
    row,
    states.find(({ source_id }) => source_id === row.id),
  )
}

export async function createSource(world: World, actor: Actor, request: NewSource): Promise<Source> {
  await checkSource(world, actor, request)
  const { origin, secrets } = splitOrigin(request.origin, undefined)
  const row: SourceRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    ...fieldsOf(request),
    origin,
    secrets: Buffer.alloc(0),
    ...createdBy(actor, world.clock.nowMs()),
  }
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await countSources(tx, actor.orgId)) >= SOURCES_MAX) throw conflict(`an organization has at most ${SOURCES_MAX} sources`)
    row.secrets = await sealSecrets(world, tx, row, secrets)
    await insertSource(tx, row)
    await recordChange(world, tx, actor, { entity: { type: 'source', id: row.id }, after: recorded(row) })
  })
  return sourceReply(row, undefined)
}

export async function updateSource(world: World, actor: Actor, { id }: SourceRow, request: NewSource): Promise<Source> {
  await checkSource(world, actor, request)
  return changeSource(world, actor, id, async (before, tx) => {
    const known = { origin: before.origin, secrets: await openOriginSecrets(world, tx, before) }
    const { origin, secrets } = splitOrigin(request.origin, known)
    return { ...fieldsOf(request), origin, secrets: await sealSecrets(world, tx, before, secrets) }
  })
}

export const pauseSource = (world: World, actor: Actor, { id }: SourceRow, paused: boolean): Promise<Source> =>
  changeSource(world, actor, id, async () => ({ paused }))

async function changeSource(
  world: World,
  actor: Actor,
  id: string,
  change: (before: SourceRow, tx: Db) => Promise<Partial<SourceRow>>,
): Promise<Source> {
  const after = await world.meta.write(actor.orgId, async (tx) => {
    const before = await lockSource(tx, actor.orgId, id)
    if (!before) throw notFound('source', id)
    const next: SourceRow = { ...before, ...(await change(before, tx)), ...modifiedBy(actor, world.clock.nowMs()) }
    await updateSourceRow(tx, next)
    await recordChange(world, tx, actor, { entity: { type: 'source', id }, before: recorded(before), after: recorded(next) })
    return next
  })
  return getSource(world, actor, after)
}

export async function removeSource(world: World, actor: Actor, row: SourceRow): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await deleteSource(tx, actor.orgId, row.id)) === 0) throw notFound('source', row.id)
    await recordChange(world, tx, actor, { entity: { type: 'source', id: row.id }, before: recorded(row) })
  })
}

const fieldsOf = ({ name, description, log_id, paused }: NewSource) => ({
  name,
  description: description ?? null,
  log_id,
  paused,
})

async function checkSource(world: World, actor: Actor, { log_id, origin }: NewSource): Promise<void> {
  checkOrigin(world, actor, origin)
  const dataset = (await visibleDatasets(world, actor)).find(({ id }) => id === log_id)
  if (!dataset) throw badField('log_id', `names no dataset: ${log_id}`)
  if (dataset.is_system_generated) throw badField('log_id', 'names a dataset of the system')
}

function checkOrigin({ deployment, outgoing }: Pick<World, 'deployment' | 'outgoing'>, { orgId }: Actor, origin: SourceOrigin): void {
  if (origin.kind === 'KAFKA') checkKafkaAccess(outgoing, origin, 'origin.')
  else if (origin.kind === 'S3') {
    checkBucket(outgoing, origin)
    checkQueue(outgoing, origin)
  } else checkDirectory(deployment.sourceDirectories, orgId, origin.directory)
}

/** Looks at the origin once. */
export async function testOrigin(world: World, actor: Actor, given: SourceOrigin): Promise<SourceTest> {
  checkOrigin(world, actor, given)
  const { origin, secrets } = splitOrigin(given, undefined)
  await countOwnTest(world, actor.orgId)
  try {
    if (origin.kind === 'KAFKA') await checkTopic(world.outgoing, kafkaSettings(origin, secrets.password), origin.topic)
    else if (origin.kind === 'S3') {
      await testBucket(world.outgoing, origin, secrets)
      await testQueue(world.outgoing, origin, secrets)
    } else await listFiles(await openDirectory(world.deployment.sourceDirectories, actor.orgId, origin.directory), origin)
    return { result: true }
  } catch (thrown) {
    if (thrown instanceof OriginError || thrown instanceof DeliveryError) return { result: false, failure_reason: thrown.message }
    throw thrown
  }
}

const countOwnTest = ({ meta, clock }: Pick<World, 'meta' | 'clock'>, orgId: string): Promise<void> =>
  countTest(
    meta,
    { subject: `${orgId}/source-tests`, limit: TESTS_MAX, refusal: `an organization tests at most ${TESTS_MAX} origins a minute` },
    clock.nowMs(),
  )

/** A source as the audit trail keeps it. */
const recorded = (row: SourceRow): Record<string, unknown> => {
  const { state: _, ...kept } = sourceReply(row, undefined)
  return kept
}

const sourceReply = (row: SourceRow, state: SourceStateRow | undefined): Source => ({
  id: row.id,
  name: row.name,
  ...(row.description === null ? {} : { description: row.description }),
  log_id: row.log_id,
  paused: row.paused,
  origin: row.origin,
  state: stateReply(row, state),
  metadata: metadataOf(row),
})

function stateReply({ paused, origin }: SourceRow, state: SourceStateRow | undefined): SourceState {
  if (!state) return { status: paused ? 'PAUSED' : 'WAITING', received_events: 0, received_bytes: 0, refused_events: 0 }
  return {
    status: paused ? 'PAUSED' : state.failures > 0 ? 'DELAYED' : state.held ? 'RUNNING' : 'WAITING',
    received_events: state.received_events,
    received_bytes: state.received_bytes,
    refused_events: state.refused_events,
    ...(state.received_at === null ? {} : { last_received_at: state.received_at }),
    ...(origin.kind === 'KAFKA' ? { waiting_messages: state.waiting } : { waiting_bytes: state.waiting }),
    ...(state.failing_since === null ? {} : { failing_since: state.failing_since }),
    ...(state.failure === null ? {} : { last_error: state.failure }),
  }
}
