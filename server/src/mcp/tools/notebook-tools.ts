import { contract, type NotebookStep } from '@dendro/api'
import { z } from 'zod'
import { appLink } from '../app-links.ts'
import { namingArguments } from '../argument-names.ts'
import { counted } from '../counted.ts'
import { measureMatching } from '../measure-matching.ts'
import { confirmArgument, confirmed } from '../previews.ts'
import { rangeArguments, rangeFacts, rangeOfCall, sourceArguments, sourcesOf, whereArgument } from '../sources.ts'
import { type AgentTool, creatingTool, type ToolContext } from '../tool.ts'
import { given } from './monitor-tools.ts'

const STEPS_MAX = 20
const notebookShape = contract.notebooks.create.body.shape

const StepGiven = z.strictObject({
  title: z.string().max(255).optional(),
  words: z.string().max(10_000).optional().describe('What was found, as Markdown.'),
  query: z.strictObject({ ...sourceArguments, ...whereArgument, ...rangeArguments }).optional(),
})
type StepGiven = z.output<typeof StepGiven>

const createNotebook = creatingTool({
  name: 'create_notebook',
  title: 'Create a notebook',
  description:
    'Keeps an investigation for people: queries with fixed times and words about what they found, in order. The preview counts the events of each query.',
  permissions: ['saved_searches_write', 'search_read'],
  input: z.strictObject({
    name: notebookShape.name,
    description: notebookShape.description,
    steps: z.array(StepGiven).min(1).max(STEPS_MAX),
    ...confirmArgument,
  }),
  output: {
    preview: { data: { would_create: z.looseObject({}) } },
    made: { notebook_id: z.string() },
  },
  run: (args, context) =>
    confirmed(args, context, {
      preview: async ({ name, description, steps }) => {
        const shown: object[] = []
        for (const [at, { query, ...words }] of steps.entries())
          shown.push({ ...words, ...(query ? { query, ...(await inStep(at, () => countOf(query, context))) } : {}) })
        return {
          summary: `A notebook with ${counted(steps.length, 'step')}.`,
          data: { would_create: { notebook: given({ name, description }), steps: shown } },
        }
      },
      create: async ({ name, description, steps }) => {
        const written: NotebookStep[] = []
        for (const [at, step] of steps.entries()) written.push(await inStep(at, () => stepOf(step, context)))
        const made = await context.call(contract.notebooks.create, { body: { ...given({ name, description }), name, steps: written } })
        return {
          summary: `The notebook is created, with ${counted(steps.length, 'step')}.`,
          link: appLink(context, 'notebooks', { id: made.id }),
          facts: { notebook_id: made.id },
        }
      },
    }),
})

const inStep = <T>(at: number, call: () => Promise<T>): Promise<T> => namingArguments(new Map([['', `steps.${at}.query.`]]), call)

async function countOf(query: NonNullable<StepGiven['query']>, context: ToolContext) {
  const { bounds, found } = await measureMatching({ ...query, measure: 'count(*)' }, 1, context)
  return { ...rangeFacts(bounds), events_total: Number(found.totals.count) }
}

/** The times are fixed, so that the step shows the same tomorrow. */
async function stepOf({ title, words, query }: StepGiven, context: ToolContext): Promise<NotebookStep> {
  if (!query) return given({ title, words })
  const { ids, selection } = await sourcesOf(context, query)
  const bounds = rangeOfCall(context, query)
  const source = ids ? { from: ids.join(':') } : { from_expr: selection.from_expr }
  return given({ title, words, search_details: given({ ...source, where: query.where, from_ts: bounds.fromMs, to_ts: bounds.toMs }) })
}

export const notebookTools: readonly AgentTool[] = [createNotebook]
