import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import { createMapping, listMappings, previewSignOn, removeMapping, updateMapping } from './mappings.ts'
import { createIdp, findIdp, listIdps, removeIdp, shownIdp, updateIdp } from './providers.ts'

const byName =
  (world: World) =>
  ({ actor, params }: RecordPath<'name'>) =>
    findIdp(world, actor, params.name)

export const ssoRoutes = (world: World): Routes =>
  routes('sso', contract.sso, {
    idps: async ({ actor }) => ({ idps: await listIdps(world, actor) }),
    createIdp: ({ actor, body }) => createIdp(world, actor, body),
    idp: onRecord(byName(world), async ({ record }) => shownIdp(record)),
    updateIdp: onRecord(byName(world), ({ actor, record, body }) => updateIdp(world, actor, record, body)),
    removeIdp: onRecord(byName(world), ({ actor, record }) => removeIdp(world, actor, record)),
    mappings: async ({ actor }) => ({ mappings: await listMappings(world, actor) }),
    createMapping: ({ actor, body }) => createMapping(world, actor, body),
    updateMapping: ({ actor, body }) => updateMapping(world, actor, body),
    removeMapping: ({ actor, query }) => removeMapping(world, actor, query.id),
    preview: ({ actor, body }) => previewSignOn(world, actor, body),
  })
