import type { ContentPackPreview } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { notFound } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, findDataset } from '../../data/datasets/datasets.ts'
import { type FilledPack, fillPack } from './fill.ts'
import type { ContentPack } from './pack.ts'
import { contentPacks } from './packs.ts'
import { fittingFields } from './recognize.ts'
import type { InstalledPart } from './rows.ts'
import { knownFieldsOf } from './sample.ts'
import { type GivenParameters, resolveParameters } from './values.ts'

/** The part that is no monitor. */
export const DASHBOARD_PART = 'dashboard'

/** The existing records of a pack for a dataset, by part. */
export const ownParts = (
  installed: readonly InstalledPart[],
  { id }: Pick<DatasetRow, 'id'>,
  pack: ContentPack,
): ReadonlyMap<string, InstalledPart> =>
  new Map(installed.filter((one) => one.log_id === id && one.pack === pack.id).map((one) => [one.part, one]))

type FilledFor = {
  readonly pack: ContentPack
  readonly dataset: DatasetRow
  /** How many events the fields were checked with. */
  readonly sampled: number
  readonly filled: FilledPack
  readonly parameters: ContentPackPreview['parameters']
}

/** Fills a pack in for a dataset. The dataset need not be recognized: callers may name its fields. */
export async function filledFor(
  world: World,
  actor: Actor,
  { packId, datasetId, given }: { packId: string; datasetId: string; given: GivenParameters },
  signal: AbortSignal,
): Promise<FilledFor> {
  const pack = findPack(packId)
  const dataset = await findDataset(world, actor, datasetId)
  const [known] = await knownFieldsOf(world, actor, [dataset], signal)
  if (!known) throw notFound('dataset', datasetId)
  const fields = fittingFields(pack, known.index, known.sample)
  const parameters = resolveParameters(pack, fields, known.sample, given)
  return { pack, dataset, sampled: known.sample.events, filled: fillPack(pack, dataset, parameters), parameters }
}

function findPack(id: string): ContentPack {
  const pack = contentPacks.find((one) => one.id === id)
  if (!pack) throw notFound('content pack', id)
  return pack
}
