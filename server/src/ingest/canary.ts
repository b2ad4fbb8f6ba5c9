import { type Actor, factsOfWork } from '../http/actor.ts'
import type { JobKind } from '../jobs/job.ts'
import { selectFirstOrganization } from '../resources/access/organizations/organizations.ts'
import { addSystemDataset, allDatasets, CANARY_COLLECTION, type DatasetRow } from '../resources/data/datasets/datasets.ts'
import { FOUND_WITHIN_MS, isCanaryFound, saveCanary } from '../resources/service/canary/canary.ts'
import type { World } from '../world.ts'
import { openOwnEvents, serviceActor } from './own-events.ts'

const EVERY_MS = 60_000
const SEARCH_EVERY_MS = 100
const DATASET = 'canary'

/**
 * Writes an event each minute on the way of all events, searches it until it is found, and saves how long that took. One process of the deployment
 * does so. The event belongs to the first organization and is kept for a day; no limit stops it.
 */
export function canary(world: World): JobKind {
  const storeEvent = openOwnEvents(world)

  async function write(actor: Actor, id: string): Promise<void> {
    const event = { level: 'info', message: 'the event of this minute', canary_id: id }
    const outcome = await storeEvent({ actor, key: id, collection: CANARY_COLLECTION, dataset: DATASET, json: JSON.stringify(event) })
    if (outcome.kind !== 'stored' || outcome.accepted !== 1) throw new Error('it was refused')
  }

  /** How long it took until the event was found; otherwise why it was not. */
  async function writeAndFind(actor: Actor, dataset: DatasetRow, signal: AbortSignal): Promise<{ foundMs?: number; failure?: string }> {
    const { clock, ids } = world
    const startedMs = clock.monotonicMs()
    const id = ids.uuid()
    let failed = 'could not be stored'
    try {
      await write(actor, id)
      failed = 'could not be searched'
      while (clock.monotonicMs() - startedMs < FOUND_WITHIN_MS) {
        if (await isCanaryFound(world, actor, dataset, id, signal)) return { foundMs: Math.round(clock.monotonicMs() - startedMs) }
        await clock.sleep(SEARCH_EVERY_MS, signal)
      }
      return { failure: `was not found by a search within ${FOUND_WITHIN_MS / 1_000} s` }
    } catch (err) {
      if (signal.aborted) throw err
      world.log.warn({ err }, 'the event of this minute was not found')
      return { failure: `${failed}; the log of the process says why` }
    }
  }

  return {
    name: 'canary',
    everyMs: EVERY_MS,
    run: async ({ signal }) => {
      const organization = world.deployment.isCanaryOn ? await selectFirstOrganization(world.meta) : undefined
      const dataset = organization && (await datasetOf(world, organization.id))
      if (!dataset) return undefined
      const sentAt = world.clock.nowMs()
      const end = await writeAndFind(serviceActor(organization.id, organization.number, factsOfWork('canary')), dataset, signal)
      await saveCanary(world.meta, { sentAt, ...end })
      return undefined
    },
  }
}

async function datasetOf(world: World, orgId: string): Promise<DatasetRow | undefined> {
  const find = async () =>
    (await allDatasets(world, orgId)).find(({ collection, dataset }) => collection === CANARY_COLLECTION && dataset === DATASET)
  const known = await find()
  if (known) return known
  await world.meta.write(orgId, (tx) => addSystemDataset(world, tx, orgId, { collection: CANARY_COLLECTION, dataset: DATASET }))
  return find()
}
