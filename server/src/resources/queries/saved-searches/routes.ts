import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { createTemplate, findTemplate, listTemplates, removeTemplate, shownTemplate, updateTemplate } from '../templates/templates.ts'
import {
  createSavedSearch,
  findSavedSearch,
  listSavedSearches,
  removeSavedSearch,
  savedSearchTemplates,
  shownSavedSearch,
  updateSavedSearch,
} from './saved-searches.ts'

export const savedSearchRoutes = (world: World): Routes =>
  routes('savedSearches', contract.savedSearches, {
    list: async ({ actor }) => ({ saved_searches: await listSavedSearches(world, actor) }),
    create: ({ actor, body }) => createSavedSearch(world, actor, body),
    get: onRecord(
      ({ actor, params }) => findSavedSearch(world, actor, params.savedSearchId),
      async ({ record }) => shownSavedSearch(record),
    ),
    update: onRecord(
      ({ actor, params }) => findSavedSearch(world, actor, params.savedSearchId),
      ({ actor, record, body }) => updateSavedSearch(world, actor, record, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findSavedSearch(world, actor, params.savedSearchId),
      ({ actor, record }) => removeSavedSearch(world, actor, record),
    ),
  })

export const savedSearchTemplateRoutes = (world: World): Routes =>
  routes('savedSearchTemplates', contract.savedSearchTemplates, {
    list: ({ actor }) => listTemplates(world, actor, savedSearchTemplates),
    create: ({ actor, body }) => createTemplate(world, actor, savedSearchTemplates, body),
    get: onRecord(
      ({ actor, params }) => findTemplate(world, actor, savedSearchTemplates, params.templateId),
      async ({ record }) => shownTemplate(record),
    ),
    update: onRecord(
      ({ actor, params }) => findTemplate(world, actor, savedSearchTemplates, params.templateId),
      ({ actor, record, body }) => updateTemplate(world, actor, savedSearchTemplates, record, () => body),
    ),
    remove: onRecord(
      ({ actor, params }) => findTemplate(world, actor, savedSearchTemplates, params.templateId),
      ({ actor, record }) => removeTemplate(world, actor, savedSearchTemplates, record),
    ),
  })
