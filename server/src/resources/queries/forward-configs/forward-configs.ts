import { isDeepStrictEqual } from 'node:util'
import type { BodyOf, contract, ForwardConfig, ForwardDestination, ReplyOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { enqueue } from '../../../jobs/jobs.ts'
import { badField, conflict, notFound } from '../../../kernel/errors.ts'
import { countTest } from '../../../meta/counters.ts'
import type { Db } from '../../../meta/meta.ts'
import { DeliveryError } from '../../../outgoing/outgoing.ts'
import { parseFilter } from '../../../query/query.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { type DatasetReference, visibilityFor, visibleDatasets } from '../../data/datasets/datasets.ts'
import { createdBy, modifiedBy } from '../../records.ts'
import { openObjectTarget, openPostTarget } from './destinations.ts'
import { FORWARDING } from './forwarding.ts'
import {
  countConfigs,
  type DeliveryRow,
  dropPayload,
  endConfig,
  type ForwardConfigRow,
  insertConfig,
  insertDelivery,
  lockConfig,
  selectConfigs,
  selectDeliveries,
  updateConfigRow,
} from './rows.ts'
import { openSecrets, sealSecrets, splitDestination } from './secrets.ts'
import { deliveryReply, FIRST_STATE } from './state.ts'
import { testTopic } from './topics.ts'

export { forwarding } from './forwarding.ts'

type NewConfig = BodyOf<typeof contract.forwardConfigs.create>
type DestinationTest = ReplyOf<typeof contract.forwardConfigs.test>
/** A config and how far it is delivered. */
type ConfigRecord = { readonly config: ForwardConfigRow; readonly delivery: DeliveryRow }

/** Deleted ones count until they have delivered everything. */
const CONFIGS_MAX = 20
const TESTS_MAX = 10

/** Newest first. Configs that read a dataset hidden from the caller are omitted. */
export async function listConfigs(world: Pick<World, 'meta'>, actor: Actor): Promise<ForwardConfig[]> {
  return (await visibleRecords(world, actor)).map(({ config, delivery }) => configReply(config, delivery))
}

export async function findConfig(world: Pick<World, 'meta'>, actor: Actor, id: string): Promise<ConfigRecord> {
  const found = (await visibleRecords(world, actor)).find(({ config }) => config.id === id)
  if (!found) throw notFound('forward config', id)
  return found
}

async function visibleRecords(world: Pick<World, 'meta'>, actor: Actor): Promise<ConfigRecord[]> {
  const [rows, deliveries, visibility] = await Promise.all([
    selectConfigs(world.meta, actor.orgId),
    selectDeliveries(world.meta, actor.orgId),
    visibilityFor(world, actor),
  ])
  const records: ConfigRecord[] = []
  for (const config of rows) {
    const delivery = deliveries.find(({ config_id }) => config_id === config.id)
    if (delivery && (await visibility.sees([referenceOf(config)], config.author))) records.push({ config, delivery })
  }
  return records
}

const referenceOf = ({ all_logs, log_ids }: ForwardConfigRow): DatasetReference => (all_logs ? { from_expr: '*' } : { from: log_ids })

export async function createConfig(world: World, actor: Actor, request: NewConfig): Promise<ForwardConfig> {
  const fields = await checkedFields(world, actor, request)
  const { destination, secrets } = splitDestination(world, request.destination, undefined)
  const id = world.ids.uuid()
  const position = (await world.writer.settled.next()) - 1n
  return world.meta.write(actor.orgId, async (tx) => {
    if ((await countConfigs(tx, actor.orgId)) >= CONFIGS_MAX) {
      throw conflict(`an organization has at most ${CONFIGS_MAX} forward configs, among them deleted ones that still deliver`)
    }
    const row: ForwardConfigRow = {
      org_id: actor.orgId,
      id,
      ...fields,
      destination,
      secrets: await sealSecrets(world, tx, { org_id: actor.orgId, id }, secrets),
      ends_at: null,
      ...createdBy(actor, world.clock.nowMs()),
    }
    const delivery: DeliveryRow = { config_id: id, position: String(position), payload: null, state: FIRST_STATE }
    await insertConfig(tx, row)
    await insertDelivery(tx, actor.orgId, id, position, FIRST_STATE)
    await enqueueDelivery(world, tx, actor, id)
    const after = configReply(row, delivery)
    await recordChange(world, tx, actor, { entity: { type: 'forward_config', id }, after })
    return after
  })
}

/** Replaces a config. A payload that is being delivered to the destination of before goes to the new one. */
export async function updateConfig(world: World, actor: Actor, record: ConfigRecord, request: NewConfig): Promise<ForwardConfig> {
  const fields = await checkedFields(world, actor, request)
  const { id } = record.config
  return world.meta.write(actor.orgId, async (tx) => {
    const before = await lockConfig(tx, actor.orgId, id)
    if (!before) throw notFound('forward config', id)
    const known = { destination: before.destination, secrets: await openSecrets(world, tx, before) }
    const { destination, secrets } = splitDestination(world, request.destination, known)
    const row: ForwardConfigRow = {
      ...before,
      ...fields,
      destination,
      secrets: await sealSecrets(world, tx, before, secrets),
      ...modifiedBy(actor, world.clock.nowMs()),
    }
    await updateConfigRow(tx, row)
    if (!isDeepStrictEqual(before.destination, destination)) await dropPayload(tx, actor.orgId, id)
    await enqueueDelivery(world, tx, actor, id)
    const [was, after] = [configReply(before, record.delivery), configReply(row, record.delivery)]
    await recordChange(world, tx, actor, { entity: { type: 'forward_config', id }, before: was, after })
    return after
  })
}

/** The config is unknown at once. Its job delivers the events that arrived before. */
export async function removeConfig(world: World, actor: Actor, { config, delivery }: ConfigRecord): Promise<undefined> {
  const endsAt = (await world.writer.settled.next()) - 1n
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await endConfig(tx, actor.orgId, config.id, endsAt)) === 0) throw notFound('forward config', config.id)
    await enqueueDelivery(world, tx, actor, config.id)
    await recordChange(world, tx, actor, { entity: { type: 'forward_config', id: config.id }, before: configReply(config, delivery) })
  })
}

const enqueueDelivery = (world: World, tx: Db, { orgId, orgNumber }: Actor, id: string): Promise<void> =>
  enqueue(world, tx, { kind: FORWARDING, orgId, key: id, payload: { config_id: id, org_number: orgNumber } })

type ConfigFields = Omit<
  ForwardConfigRow,
  'org_id' | 'id' | 'destination' | 'secrets' | 'ends_at' | `created_${string}` | `modified_${string}`
>

async function checkedFields(world: World, actor: Actor, request: NewConfig): Promise<ConfigFields> {
  const { all_logs, log_ids: given = [], filter = '' } = request
  parseFilter(filter, 'filter')
  if (request.format === 'PARQUET' && request.destination.destination_type !== 'S3') {
    throw badField('format', 'PARQUET is for buckets only; use RAW or NDJSON')
  }
  if (all_logs && given.length > 0) throw badField('log_ids', 'must be absent when all_logs is true')
  if (!all_logs && given.length === 0) throw badField('log_ids', 'must name at least one dataset when all_logs is false')
  const log_ids = [...new Set(given)]
  const known = new Set((await visibleDatasets(world, actor)).map(({ id }) => id))
  const unknown = log_ids.find((id) => !known.has(id))
  if (unknown !== undefined) throw badField('log_ids', `names no dataset: ${unknown}`)
  return {
    name: request.name,
    description: request.description ?? null,
    filter: filter.trim() === '' ? null : filter,
    all_logs,
    log_ids,
    format: request.format,
    compression: request.compression,
    max_payload_size_bytes: request.max_payload_size_bytes,
    max_payload_size_events: request.max_payload_size_events,
    max_buffer_time_ms: request.max_buffer_time_ms,
    author: actor.identity,
    author_roles: [...actor.roles],
  }
}

/** Sends a probe. The caller gets the reason of a failure, never the response of the target. */
export async function testDestination(
  world: World,
  actor: Actor,
  given: ForwardDestination,
  signal?: AbortSignal,
): Promise<DestinationTest> {
  const { destination, secrets } = splitDestination(world, given, undefined, '')
  await countOwnTest(world, actor.orgId)
  const probe = { bytes: Buffer.from(''), encoding: undefined, contentType: 'application/x-ndjson', isOwn: false } as const
  const id = world.ids.uuid()
  try {
    if (destination.destination_type === 'HTTP') {
      await openPostTarget(world, destination, secrets, signal).post(id, probe)
      return { result: true }
    }
    if (destination.destination_type === 'KAFKA') {
      await testTopic(world, destination, secrets)
      return { result: true }
    }
    const target = await openObjectTarget(world, destination, secrets, signal)
    const key = [destination.prefix?.replaceAll(/^\/+|\/+$/g, '') ?? '', `dendro-probe-${id}`].filter((part) => part !== '').join('/')
    try {
      await target.put(key, probe)
      await target.remove(key)
    } finally {
      target.close()
    }
    return { result: true }
  } catch (cause) {
    if (cause instanceof DeliveryError) return { result: false, failure_reason: cause.message }
    throw cause
  }
}

const countOwnTest = ({ meta, clock }: Pick<World, 'meta' | 'clock'>, orgId: string): Promise<void> =>
  countTest(
    meta,
    { subject: `${orgId}/forward-tests`, limit: TESTS_MAX, refusal: `an organization tests at most ${TESTS_MAX} destinations a minute` },
    clock.nowMs(),
  )

const configReply = (row: ForwardConfigRow, { state }: DeliveryRow): ForwardConfig => ({
  id: row.id,
  name: row.name,
  ...(row.description === null ? {} : { description: row.description }),
  ...(row.filter === null ? {} : { filter: row.filter }),
  all_logs: row.all_logs,
  ...(row.all_logs ? {} : { log_ids: row.log_ids }),
  format: row.format,
  compression: row.compression,
  max_payload_size_bytes: row.max_payload_size_bytes,
  max_payload_size_events: row.max_payload_size_events,
  max_buffer_time_ms: row.max_buffer_time_ms,
  destination: row.destination,
  created_at: row.created_at,
  delivery: deliveryReply(state),
})
