import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { nextCursor, pageParameters, wordParameter } from './list-pages.ts'
import { SearchDetails } from './saved-searches.ts'
import { list, Metadata, text, uuid } from './values.ts'

const STEPS_MAX = 100

const NotebookStep = z
  .object({
    title: text(0, 255).optional(),
    words: text(0, 10_000).optional().describe('What was found, as Markdown.'),
    search_details: SearchDetails.optional().describe('The query of the step. Without it the step has words only.'),
  })
  .meta({ id: 'NotebookStep', description: 'A pinned query with words, or words alone. One of both is required.' })
export type NotebookStep = z.output<typeof NotebookStep>

const Steps = list(NotebookStep, { max: STEPS_MAX })

const summary = {
  id: uuid,
  name: text(1, 255),
  description: text(0, 1_024).optional(),
  version: z.int().min(1).describe('Counts the changes.'),
  metadata: Metadata,
}

export const NotebookSummary = z.object({ ...summary, step_count: z.int().min(0) }).meta({ id: 'NotebookSummary' })
export type NotebookSummary = z.output<typeof NotebookSummary>

export const Notebook = z
  .object({ ...summary, steps: Steps })
  .meta({ id: 'Notebook', description: 'An investigation: pinned queries with words, in order. It holds no events.' })
export type Notebook = z.output<typeof Notebook>

const Draft = z.object({ name: text(1, 255), description: text(0, 1_024).optional(), steps: Steps.default([]) })
export type NotebookDraft = z.output<typeof Draft>

const Change = z.object({
  name: text(1, 255).optional(),
  description: text(0, 1_024).optional(),
  steps: Steps.optional().describe('All steps, in order.'),
  version: z.int().min(1).optional().describe('409 if the notebook has another version by now.'),
})
export type NotebookChange = z.output<typeof Change>

const [READ, WRITE, DELETE] = ['saved_searches_read', 'saved_searches_write', 'saved_searches_delete'] as const

export const notebooks = {
  list: endpoint({
    method: 'GET',
    path: '/notebooks',
    permission: READ,
    tier: 'X',
    summary: 'List notebooks without their steps, the last changed first',
    query: z.object({
      ...pageParameters,
      search: pageParameters.search.describe('Only notebooks whose names and descriptions contain each of these words.'),
      sort: wordParameter(['changed', 'name']).describe('The order of the list; `changed`, the latest first, when absent.'),
    }),
    reply: z.object({ notebooks: z.array(NotebookSummary), next_cursor: nextCursor }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/notebooks',
    permission: WRITE,
    tier: 'X',
    summary: 'Create a notebook',
    body: Draft,
    status: 201,
    reply: Notebook,
  }),
  get: endpoint({
    method: 'GET',
    path: '/notebooks/{notebookId}',
    permission: READ,
    tier: 'X',
    summary: 'One notebook',
    reply: Notebook,
    fails: [404],
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/notebooks/{notebookId}',
    permission: WRITE,
    tier: 'X',
    summary: 'Update a notebook',
    body: Change,
    reply: Notebook,
    fails: [404, 409],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/notebooks/{notebookId}',
    permission: DELETE,
    tier: 'X',
    summary: 'Delete a notebook',
    fails: [404],
  }),
}
