import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import { templateHandlers } from '../templates/templates.ts'
import {
  createSavedSearch,
  findSavedSearch,
  removeSavedSearch,
  savedSearchPage,
  savedSearchTemplates,
  shownSavedSearch,
  updateSavedSearch,
} from './saved-searches.ts'

const bySavedSearchId =
  (world: World) =>
  ({ actor, params }: RecordPath<'savedSearchId'>) =>
    findSavedSearch(world, actor, params.savedSearchId)

export const savedSearchRoutes = (world: World): Routes =>
  routes('savedSearches', contract.savedSearches, {
    list: ({ actor, query }) => savedSearchPage(world, actor, query),
    create: ({ actor, body }) => createSavedSearch(world, actor, body),
    get: onRecord(bySavedSearchId(world), async ({ record }) => shownSavedSearch(record)),
    update: onRecord(bySavedSearchId(world), ({ actor, record, body }) => updateSavedSearch(world, actor, record, body)),
    remove: onRecord(bySavedSearchId(world), ({ actor, record }) => removeSavedSearch(world, actor, record)),
  })

export const savedSearchTemplateRoutes = (world: World): Routes =>
  routes(
    'savedSearchTemplates',
    contract.savedSearchTemplates,
    templateHandlers(world, savedSearchTemplates, (draft) => draft),
  )
