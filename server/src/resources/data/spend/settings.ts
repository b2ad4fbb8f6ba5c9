import type { BodyOf, contract, SpendSettings } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, unavailable } from '../../../kernel/errors.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { createdBy } from '../../records.ts'
import { lockSettings, type SpendSettingsRow, selectSettings, upsertSettings } from './rows.ts'

/** The price and the budget of an organization. */
export async function spendSettings({ meta }: Pick<World, 'meta'>, orgId: string): Promise<SpendSettings> {
  return shownSettings(await meta.cached(orgId, 'spend-settings', () => selectSettings(meta, orgId)))
}

export async function setSpendSettings(world: World, actor: Actor, request: BodyOf<typeof contract.spend.set>): Promise<SpendSettings> {
  const { price, budget } = request
  if (budget?.unit === 'MONEY' && !price) throw badField('budget.unit', 'MONEY needs a price', 'INCOMPLETE')
  return world.meta.write(actor.orgId, async (tx) => {
    const before = await lockSettings(tx, actor.orgId)
    const next = { org_id: actor.orgId, price: price ?? null, budget: budget ?? null, ...createdBy(actor, world.clock.nowMs()) }
    const row = await upsertSettings(tx, next)
    if (!row) throw unavailable('the settings were not stored')
    await recordChange(world, tx, actor, {
      entity: { type: 'spend_settings', id: actor.orgId },
      ...(before ? { before: shownSettings(before) } : {}),
      after: shownSettings(row),
    })
    return shownSettings(row)
  })
}

const shownSettings = (row: SpendSettingsRow | undefined): SpendSettings => ({
  ...(row?.price ? { price: row.price } : {}),
  ...(row?.budget ? { budget: row.budget } : {}),
  metadata: row ? metadataOf(row) : {},
})
