import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, datasetSelectionOf, visibleDatasets } from '../../data/datasets/datasets.ts'
import type { WindowSeries } from '../observations/observations.ts'

/** Finds the datasets that series of one batch read. What an author may see, and what a selection matches, is found once for all of them. */
export class BatchSources {
  readonly #world: World
  readonly #visible = new Map<string, Promise<readonly DatasetRow[]>>()
  readonly #chosen = new Map<string, Promise<readonly DatasetRow[]>>()

  constructor(world: World) {
    this.#world = world
  }

  /** None is not an error, since they may not exist yet. */
  of(actor: Actor, { query: { query } }: WindowSeries): Promise<readonly DatasetRow[]> {
    const who = JSON.stringify([actor.orgId, actor.identity, actor.roles])
    const { from, from_expr } = query
    return once(this.#chosen, `${who} ${JSON.stringify([from, from_expr])}`, async () => {
      const choose = datasetSelectionOf(query)
      return choose(await once(this.#visible, who, () => visibleDatasets(this.#world, actor)))
    })
  }
}

function once<T>(known: Map<string, Promise<T>>, key: string, find: () => Promise<T>): Promise<T> {
  const found = known.get(key) ?? find()
  known.set(key, found)
  return found
}
