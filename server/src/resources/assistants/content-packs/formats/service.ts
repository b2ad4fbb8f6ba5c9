import type { ContentPack, PackQuery } from '../pack.ts'

const actions: PackQuery = { name: 'actions', select: 'count(*)' }
const refused: PackQuery = { name: 'refused', select: 'count(*)', where: "outcome != 'done'" }
const deleted: PackQuery = { name: 'deleted', select: 'count(*)', where: "action LIKE '%.remove' AND outcome = 'done'" }

/** The service itself: its audit trail, and the volume that it ingests. The audit trail has the same fields everywhere. */
export const service: ContentPack = {
  id: 'service',
  name: 'The service itself',
  description: 'Changes by users and API keys, refused actions, and the ingested volume.',
  recognizedBy: { collection: '.audit-trail' },
  parameters: [
    { type: 'NUMBER', name: 'refused', label: 'Refused actions in 15 minutes', default: 20 },
    { type: 'NUMBER', name: 'deleted', label: 'Deleted records in 15 minutes', default: 20 },
    { type: 'NUMBER', name: 'volume', label: 'Ingested in a day', default: 50_000_000_000, unit: 'bytes' },
  ],
  widgets: [
    { name: 'Actions by outcome', type: 'bar', w: 6, h: 4, queries: [{ ...actions, groups: ['outcome'] }] },
    { name: 'Refused actions by caller', type: 'bar', w: 6, h: 4, queries: [{ ...refused, groups: ['actor_name'] }] },
    { name: 'Callers with the most actions', type: 'top-list', w: 4, h: 5, queries: [{ ...actions, groups: ['actor_name'] }] },
    { name: 'Most frequent actions', type: 'top-list', w: 4, h: 5, queries: [{ ...actions, groups: ['action'] }] },
    { name: 'Most refused actions', type: 'top-list', w: 4, h: 5, queries: [{ ...refused, groups: ['action'] }] },
    { name: 'Changed records by kind', type: 'pie', w: 4, h: 4, queries: [{ ...actions, groups: ['entity_type'] }] },
    { name: 'Deleted records by kind', type: 'bar', w: 8, h: 4, queries: [{ ...deleted, groups: ['entity_type'] }] },
  ],
  monitors: [
    {
      id: 'refused-actions',
      name: 'Many refused actions',
      description: 'Actions that were refused, such as failed sign-ins, by caller.',
      comparison_operator: 'ABOVE',
      threshold: 'refused',
      window: 'Last 15 minutes',
      queries: [{ ...refused, groups: ['actor_name'] }],
    },
    {
      id: 'deletions',
      name: 'Many deleted records',
      description: 'Records that were deleted, by caller.',
      comparison_operator: 'ABOVE',
      threshold: 'deleted',
      window: 'Last 15 minutes',
      queries: [{ ...deleted, groups: ['actor_name'] }],
    },
    {
      id: 'no-ingestion',
      name: 'Nothing is ingested',
      description: 'No dataset received events.',
      type: 'USAGE',
      comparison_operator: 'BELOW',
      threshold: 1,
      window: 'Last 15 minutes',
      queries: [{ name: 'ingested', select: 'count(*)', from: 'every dataset' }],
      withoutEvents: 'ALERT',
    },
    {
      id: 'volume',
      name: 'High ingested volume',
      description: 'The bytes of all stored lines.',
      type: 'USAGE',
      comparison_operator: 'ABOVE',
      threshold: 'volume',
      window: 'Last 1 day',
      queries: [{ name: 'ingested', select: 'count(*)', from: 'every dataset' }],
    },
  ],
}
