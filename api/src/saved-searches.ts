import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { nextCursor, pageParameters, sortParameter } from './list-pages.ts'
import { Template, TemplateParameters, templateLibrary } from './templates.ts'
import { list, Metadata, ms, Tags, text, uuid } from './values.ts'

const displays = ['list', 'timeseries', 'toplist', 'piechart', 'treemap', 'table', 'geomap', 'queryvalue'] as const
const FROM_MAX = 500
const IDS_CHARS_MAX = FROM_MAX * 37

/** Several texts in one; a list is accepted and stored joined. */
const joined = (separator: string, charsMax: number) =>
  z.preprocess(
    (given) =>
      Array.isArray(given) && given.length <= FROM_MAX && given.every((item) => typeof item === 'string') ? given.join(separator) : given,
    text(0, charsMax),
  )

export const SearchDetails = z
  .object({
    from: joined(':', IDS_CHARS_MAX).optional().describe('Dataset ids joined by `:`; a list is accepted.'),
    from_expr: text(0, 4_096).optional(),
    time_range: text(0, 255).optional(),
    from_ts: ms.optional(),
    to_ts: ms.optional(),
    where: text(0, 32_768).optional(),
    select: joined(', ', 32_768).optional().describe('One text; a list is accepted.'),
    groups: joined(', ', 4_096).optional(),
    display: z.enum(displays).optional(),
  })
  .meta({ id: 'SearchDetails' })
export type SearchDetails = z.output<typeof SearchDetails>

const LogIds = list(uuid, { max: FROM_MAX }).optional().describe('Deprecated.')

export const SavedSearch = z
  .object({
    id: uuid,
    name: text(1, 255),
    description: text(0, 1_024).optional(),
    search_details: SearchDetails,
    log_ids: z.array(uuid).optional(),
    template: Template.optional(),
    tags: Tags,
    metadata: Metadata,
  })
  .meta({ id: 'SavedSearch' })
export type SavedSearch = z.output<typeof SavedSearch>

/** A complete draft. */
export const SavedSearchDraft = z.object({
  name: text(1, 255),
  description: text(0, 1_024).optional(),
  search_details: SearchDetails,
  log_ids: LogIds,
  tags: Tags.default({}),
})
export type SavedSearchDraft = z.output<typeof SavedSearchDraft>

const Draft = SavedSearchDraft.extend({
  name: text(1, 255).optional().describe('Required unless a template provides it.'),
  search_details: SearchDetails.optional().describe('Required unless a template provides them.'),
  tags: Tags.optional(),
  template: Template.optional().describe('Provides every member that is absent here.'),
})
export type SavedSearchRequest = z.output<typeof Draft>

/** Search details whose texts may hold `{{name}}`; they can be checked only with their arguments. */
const TemplateDetails = z
  .object({ ...SearchDetails.shape, display: text(0, 64).optional() })
  .meta({ id: 'SearchTemplateDetails', description: 'Search details whose texts may hold `{{name}}` for a parameter.' })

const TemplateDraft = z.object({
  name: text(1, 255),
  description: text(0, 1_024).optional(),
  search_details: TemplateDetails,
  this_template_tags: Tags.describe('Tags of the logs that the template is for.'),
  parameters: TemplateParameters.default({}),
  tags: Tags.default({}),
})
export type SavedSearchTemplateDraft = z.output<typeof TemplateDraft>

const SavedSearchTemplate = z
  .object({ id: uuid, ...TemplateDraft.shape, parameters: TemplateParameters, tags: Tags, metadata: Metadata })
  .meta({ id: 'SavedSearchTemplate', description: 'A search with parameters.' })

const Change = z.object({
  name: text(1, 255).optional(),
  description: text(0, 1_024).optional(),
  search_details: SearchDetails.optional(),
  log_ids: LogIds,
})
export type SavedSearchChange = z.output<typeof Change>

const permissions = ['saved_searches_read', 'saved_searches_write', 'saved_searches_delete'] as const
const [READ, WRITE, DELETE] = permissions

export const savedSearchTemplates = templateLibrary('saved-searches', {
  of: 'saved searches',
  draft: TemplateDraft,
  change: TemplateDraft,
  shown: SavedSearchTemplate,
  permissions,
})

export const savedSearches = {
  list: endpoint({
    method: 'GET',
    path: '/saved-searches',
    permission: READ,
    tier: 'X',
    summary: 'List saved searches, newest first',
    query: z.object({ ...pageParameters, sort: sortParameter([]) }),
    reply: z.object({ saved_searches: z.array(SavedSearch), next_cursor: nextCursor }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/saved-searches',
    permission: WRITE,
    tier: 'X',
    summary: 'Create a saved search',
    body: Draft,
    status: 201,
    reply: SavedSearch,
  }),
  get: endpoint({
    method: 'GET',
    path: '/saved-searches/{savedSearchId}',
    permission: READ,
    tier: 'X',
    summary: 'One saved search',
    reply: SavedSearch,
    fails: [404],
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/saved-searches/{savedSearchId}',
    permission: WRITE,
    tier: 'X',
    summary: 'Update a saved search',
    body: Change,
    reply: SavedSearch,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/saved-searches/{savedSearchId}',
    permission: DELETE,
    tier: 'X',
    summary: 'Delete a saved search',
    fails: [404],
  }),
}
