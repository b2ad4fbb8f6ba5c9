import type { BodyOf, contract, UserPreference } from '@dendro/api'
import { type Actor, hasPermission, isUser } from '../../../http/actor.ts'
import { badField, forbidden, notFound } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../audit/audit.ts'
import { lockUser, type UserRow, updateUserRow } from './rows.ts'

type Preferences = UserPreference['preferences']
type Change = BodyOf<typeof contract.users.updatePreferences>

const FEATURES_MAX = 200

export const getPreferences = async (row: UserRow): Promise<UserPreference> => ({ preferences: row.preferences })

export async function updatePreferences(world: World, actor: Actor, record: UserRow, change: Change): Promise<UserPreference> {
  const { org_id, id } = record
  if (!isUser(actor, id) && !hasPermission(actor, 'users_write'))
    throw forbidden('the preferences of other users need the permission users_write')
  return world.meta.write(org_id, async (tx) => {
    const before = await lockUser(tx, org_id, id)
    if (!before) throw notFound('user', id)
    const preferences = mergePreferences(before.preferences, change)
    await updateUserRow(tx, { ...before, preferences })
    await recordChange(world, tx, actor, {
      entity: { type: 'user', id },
      before: { preferences: before.preferences },
      after: { preferences },
    })
    return { preferences }
  })
}

/** Merges the given members of the three objects; null clears a default; other fields are replaced. */
export function mergePreferences(known: Preferences, change: Change): Preferences {
  const { favourites, defaults, features, ...scalars } = change
  const merged: Preferences = { ...known, ...given(scalars) }
  if (favourites) merged.favourites = { ...known.favourites, ...given(favourites) }
  if (features) merged.features = { ...known.features, ...features }
  if (defaults) merged.defaults = given({ ...known.defaults, ...defaults })
  if (Object.keys(merged.features ?? {}).length > FEATURES_MAX) throw badField('features', `must come to at most ${FEATURES_MAX} entries`)
  return merged
}

/** Removes members without a value. */
const given = <T extends object>(members: T): { [K in keyof T]: Exclude<T[K], null> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null)) as {
    [K in keyof T]: Exclude<T[K], null>
  }
