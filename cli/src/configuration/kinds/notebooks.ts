import { ApiFailure, type BodyInput, contract } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import { type ConfigFields, isFields, type Kind, listOf, pick, textOf, withMember } from '../kind.ts'
import { detailsWithReferences, withSourceList } from './saved-searches.ts'

type Body = BodyInput<typeof contract.notebooks.create>

/** What a document does not say: the service takes no absent member for an empty one. */
const EMPTY = { description: '', steps: [] }

export const notebookKind: Kind = {
  name: 'notebook',
  file: 'notebooks.yaml',
  members: ['name', 'description', 'steps'],
  nameOf: ({ name }) => textOf(name),
  refersTo: ['dataset'],
  load: async ({ client, signal }) => {
    const { notebooks } = await client.notebooks.list({ signal })
    const stored = []
    // The list has no steps. One after the other: many notebooks are not many requests at once.
    for (const { id } of notebooks) {
      const notebook = await client.notebooks.get({ params: { notebookId: id }, signal }).catch(unlessGone)
      if (notebook) stored.push({ id, fields: withSteps(pick(notebook, notebookKind.members), withSourceList), parts: notebook.version })
    }
    return stored
  },
  withReferences: (fields, map) => withSteps(fields, (details, at) => detailsWithReferences(details, map, ['steps', at, 'search_details'])),
  check: (given) => {
    const { fields, problems } = checkFields(contract.notebooks.create.body, given)
    const named = given.name === undefined ? [{ path: ['name'], message: 'is required' }] : []
    const bare = listOf(given.steps).flatMap((step, at) =>
      isFields(step) && step.search_details === undefined && textOf(step.words).trim() === ''
        ? [{ path: ['steps', at], message: 'must have words, search_details or both' }]
        : [],
    )
    return { fields: withSteps(fields, withSourceList), problems: [...named, ...problems, ...bare] }
  },
  create: async ({ client, signal }, fields, send) => (await send(() => client.notebooks.create({ body: fields as Body, signal }))).id,
  update: async ({ client, signal }, { before, fields }, send) => {
    // A notebook that somebody has changed since is left as it is.
    const body = { ...EMPTY, ...(fields as Body), version: before.parts as number }
    await send(() => client.notebooks.update({ params: { notebookId: before.id }, body, signal }))
  },
  remove: ({ client, signal }, { id }, send) => send(() => client.notebooks.remove({ params: { notebookId: id }, signal })),
}

/** Deleted since it was listed. */
const unlessGone = (thrown: unknown): undefined => {
  if (!(thrown instanceof ApiFailure) || thrown.status !== 404) throw thrown
}

/** Changes the query of each step. */
const withSteps = (fields: ConfigFields, change: (details: unknown, at: number) => unknown): ConfigFields =>
  withMember(fields, 'steps', (steps) =>
    Array.isArray(steps)
      ? steps.map((step, at) => (isFields(step) ? withMember(step, 'search_details', (details) => change(details, at)) : step))
      : steps,
  )
