import { contract, type Event, type SearchResponse } from '@dendro/api'
import { z } from 'zod'
import { messageKeys } from '../../lines/reference/event.ts'
import { exploreLink } from '../app-links.ts'
import { counted, verb } from '../counted.ts'
import { TEXT_CHARS } from '../cuts.ts'
import { eventArgument, eventReference, placeOfEvent } from '../event-reference.ts'
import { fieldKey } from '../field-keys.ts'
import { Cost, Row, rangeOutput, warningsOutput } from '../output-schema.ts'
import { rangeArguments, rangeFacts, rangeOfCall, type Sources, sourceArguments, sourcesOf, timeText, whereArgument } from '../sources.ts'
import { type AgentTool, readingTool, type ToolContext } from '../tool.ts'

const FIELDS_SHOWN = 8
const FIELD_CHARS = 80

export const maxCharsArgument = {
  max_chars: z.int().min(40).max(20_000).default(TEXT_CHARS).describe('Longer texts are cut to this many characters.'),
}

const search = readingTool({
  name: 'search',
  title: 'Search events',
  description:
    'Finds events, newest first, with their text and a few fields. Count or chart first when many events may match. `event` of a row is the reference for event_context and explain_error.',
  permissions: ['search_read'],
  input: z.strictObject({
    ...sourceArguments,
    ...whereArgument,
    ...rangeArguments,
    fields: z
      .array(z.string().min(1).max(256))
      .max(30)
      .optional()
      .describe('Only these fields of each event instead of its text and first fields; `*` for all fields.'),
    oldest_first: z.boolean().default(false),
    limit: z.int().min(1).max(200).default(20),
    ...maxCharsArgument,
    cursor: z
      .guid()
      .optional()
      .describe('From an earlier answer: continues after its last event. Other arguments of the query are ignored.'),
  }),
  output: {
    facts: { range: rangeOutput.range.optional(), events_total: z.int(), cost: Cost, cursor: z.string().optional() },
    data: { events: z.array(Row), ...warningsOutput },
  },
  run: async (args, context) => {
    const sources = await sourcesOf(context, args)
    const bounds = rangeOfCall(context, args)
    const found = await context.call(contract.search.run, {
      body: args.cursor
        ? { pagination_token: args.cursor, per_page: args.limit }
        : {
            ...sources.selection,
            where: args.where,
            from_ts: bounds.fromMs,
            to_ts: bounds.toMs,
            select: selectOf(args.fields),
            limit: args.limit,
            most_recent_first: !args.oldest_first,
          },
    })
    const rows = found.events.map((event) => eventRow(event, { sources, context, args }))
    const cursor = cursorOf(found)
    const total = Number(found.totals.count)
    return {
      summary: args.cursor
        ? `The next ${counted(rows.length, 'event')}.`
        : `${found.is_exact ? '' : 'At least '}${counted(total, 'event')} ${verb(total, 'matches', 'match')}; ${args.oldest_first ? 'the oldest' : 'the newest'} ${rows.length} ${verb(rows.length, 'follows', 'follow')}.`,
      // A page is of an earlier query, whose answer had the link.
      link: args.cursor ? undefined : exploreLink(context, { datasets: sources.ids, where: args.where, bounds }),
      facts: { ...(args.cursor ? {} : rangeFacts(bounds)), events_total: total, cost: costOf(found), ...(cursor ? { cursor } : {}) },
      data: {
        events: context.cuts.rows(rows, args.limit, 'lower limit or max_chars, name the fields you need, or continue with cursor'),
        ...warningsOf(found),
      },
    }
  },
})

const selectOf = (fields: readonly string[] | undefined): string[] =>
  fields === undefined || fields.length === 0 || fields.includes('*') ? ['*', '@raw'] : fields.map(fieldKey)

type RowOptions = { sources: Sources; context: ToolContext; args: { fields?: readonly string[] | undefined; max_chars: number } }

/** One event as a row: its text and first fields, or only the requested fields. */
export function eventRow(event: Event, { sources, context, args }: RowOptions) {
  const { metadata } = event
  const { cuts } = context
  const fields = Object.entries({ ...event.message_kvs, ...event.attributes })
  const head = {
    time: event['@time'],
    status: event['@status'],
    dataset: sources.nameOf(metadata.service_id),
    event: eventReference(event),
  }
  if (args.fields?.length) {
    const all = fields.map(([name, value]): [string, string] => [name, cuts.text(value, args.max_chars)])
    return { ...head, fields: Object.fromEntries(all) }
  }
  const messageKey = messageKeys.find((key) => event.message_kvs[key])
  const text = messageKey === undefined ? (event['@raw'] ?? '') : (event.message_kvs[messageKey] ?? '')
  const short = messageKey === undefined ? [] : fields.filter(([name, value]) => name !== messageKey && value.length <= FIELD_CHARS)
  const shown = short.slice(0, FIELDS_SHOWN)
  const left = messageKey === undefined ? 0 : fields.length - 1 - shown.length
  return {
    ...head,
    text: cuts.text(text, args.max_chars),
    ...(shown.length > 0 ? { fields: Object.fromEntries(shown) } : {}),
    ...(left > 0 ? { fields_left_out: left } : {}),
  }
}

function cursorOf({ links }: SearchResponse): string | undefined {
  const next = links.find(({ rel }) => rel === 'next')
  return next ? (new URL(next.href).searchParams.get('pagination_token') ?? undefined) : undefined
}

/** The cost of a query, which budgets limit. */
export const costOf = ({ explain }: Pick<SearchResponse, 'explain'>) => ({
  bytes_searched: Number(explain['Bytes searched'] ?? 0),
  ms: Number(explain['Execution time (millis)']),
})

/** Warnings can quote fields of the data. */
export const warningsOf = ({ warnings }: Pick<SearchResponse, 'warnings'>) =>
  warnings && warnings.length > 0 ? { warnings: warnings.map(({ field, message, hint }) => ({ field, message, hint })) } : {}

const AROUND_MS = 300_000

const eventContext = readingTool({
  name: 'event_context',
  title: 'Context of an event',
  description: 'Lists the events just before and after one event, oldest first. It ends where no event came for a minute.',
  permissions: ['search_read'],
  input: z.strictObject({
    event: eventArgument,
    from: sourceArguments.from.describe('Datasets whose events are shown too; only that of the event when absent.'),
    direction: z.enum(['before', 'after', 'both']).default('both'),
    limit: z.int().min(1).max(200).default(20),
    ...maxCharsArgument,
  }),
  output: { facts: { cost: Cost }, data: { events: z.array(Row) } },
  run: async ({ event, from, direction, limit, max_chars }, context) => {
    const { logId, timestamp, sequence } = placeOfEvent(event)
    const sources = await sourcesOf(context, { from: from?.length ? [logId, ...from] : [logId] })
    const query = { from: [...(sources.ids ?? [logId])], timestamp, sequence, direction, limit }
    const found = await context.call(contract.context.get, { query })
    const rows = found.events.map((one) => {
      const row = eventRow(one, { sources, context, args: { max_chars } })
      return row.event === event ? { ...row, is_the_event: true } : row
    })
    const bounds = { fromMs: timestamp - AROUND_MS, toMs: timestamp + AROUND_MS }
    return {
      summary: `${counted(rows.length, 'event')} around ${timeText(timestamp)}.`,
      link: exploreLink(context, { datasets: sources.ids, bounds, event }),
      facts: { cost: costOf(found) },
      data: { events: context.cuts.rows(rows, limit, 'lower limit or max_chars') },
    }
  },
})

export const searchTools: readonly AgentTool[] = [search, eventContext]
