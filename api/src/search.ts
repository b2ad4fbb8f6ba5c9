import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { AggregateGroupRow, Event, Explain, Link, ResultRow, Series, Totals, Warning } from './event-shapes.ts'
import {
  booleanParameter,
  int64Given,
  integerParameter,
  isUuid,
  list,
  listParameter,
  ms,
  phrasesParameter,
  text,
  textList,
  textParameter,
  uuid,
} from './values.ts'

export const EVENTS_MAX = 10_000
export const SLICES_MAX = 1_440
const FROM_MAX = 500
const TEXT_MAX = 65_536

export const QueryStatus = z.enum(['IN_PROGRESS', 'COMPLETED', 'CANCELLED_BY_USER', 'TIMED_OUT', 'INTERNAL_SERVER_ERROR'])
export type QueryStatus = z.output<typeof QueryStatus>

export const SearchResponse = z
  .object({
    explain: Explain,
    events: z.array(Event),
    result: z.array(ResultRow),
    groups: z.array(AggregateGroupRow),
    groups_series: z.array(Series),
    metadata: z.object({ select: z.array(z.string()), correlation_id: z.string() }),
    totals: Totals,
    pagination: z.object({ next_page_url: z.string().optional() }),
    links: z.array(Link),
    is_exact: z.boolean(),
    warnings: z.array(Warning).optional(),
    status: QueryStatus.optional(),
    progress: z.int().min(0).max(100).optional(),
    start_time: z.string().optional(),
  })
  .meta({ id: 'SearchResponse' })
export type SearchResponse = z.output<typeof SearchResponse>

/** A dataset by its id, normalized to lower case, or by the names of its collection and itself with a dot between them. */
const place = text(1, 511)
  .refine((given) => isUuid(given) || given.includes('.'), { error: 'must be the id of a dataset, or collection.dataset' })
  .overwrite((given) => (isUuid(given) ? given.toLowerCase() : given))
  .meta({ examples: ['7d0c1b1e-0000-4000-8000-000000000001'] })

/** The members that select the datasets of a query. */
export const sources = {
  from: list(place, { max: FROM_MAX }).optional().describe('Datasets by their ids, or as `collection.dataset`.'),
  from_expr: text(0, 4_096)
    .optional()
    .describe("A dataset selector such as `collection = 'shop' AND environment = 'prod'`; takes precedence over `from`."),
}

export const sourceParameters = { from: listParameter(place), from_expr: textParameter() }

/** Selects datasets by their tags. */
export const tagParameter = phrasesParameter().describe('Deprecated: `key:value` items.')

/** The members for the time range of a query. */
export const range = {
  time_range: text(0, 255).optional().describe('A relative range such as `Last 20 minutes`; excludes from_ts and to_ts.'),
  from_ts: ms.optional().describe('Epoch milliseconds, inclusive; together with to_ts.'),
  to_ts: ms.optional().describe('Epoch milliseconds, exclusive; together with from_ts.'),
}

export const rangeParameters = {
  time_range: textParameter(255),
  from_ts: integerParameter(0, Number.MAX_SAFE_INTEGER),
  to_ts: integerParameter(0, Number.MAX_SAFE_INTEGER),
}

const SearchRequest = z.object({
  ...sources,
  from_tags: textList(text(1, 1_024), { max: 100 }).optional().describe('Deprecated: `key:value` items.'),
  ...range,
  where: text(0, TEXT_MAX).optional().describe('The filter; every event when absent.'),
  select: textList(text(0, 1_024), { max: 100 })
    .optional()
    .describe('Keys, `*`, `@raw`, or aggregates such as `count(*)`. Required, unless a pagination_token or explain_only is given.'),
  groups: textList(text(0, 4_096), { max: 100 }).optional().describe('Keys to group by, at most 5.'),
  limit: z.int().min(1).max(EVENTS_MAX).optional().describe('Maximum number of events or groups; 100 when absent.'),
  num_of_slices: z.int().min(1).max(SLICES_MAX).optional().describe('Number of time slices; 10 when absent.'),
  from_sequence: int64Given.optional().describe('With from_ts: the sequence number within that millisecond to begin at.'),
  most_recent_first: z.boolean().optional().describe('The order of events; true when absent.'),
  order_by: text(0, 1_024).optional().describe('One key, with ASC or DESC.'),
  explain_only: z.boolean().optional().describe('Only estimates the cost of the query.'),
  async_enabled: z.boolean().optional().describe('Runs asynchronously: returns at once; poll for the result.'),
  pagination_token: uuid
    .optional()
    .describe('From a link of a response; all other members except per_page are ignored. Valid only for the same caller.'),
  per_page: z.int().min(1).max(EVENTS_MAX).optional().describe('Only with pagination_token.'),
})
export type SearchRequest = z.output<typeof SearchRequest>

const SearchParameters = z.object({
  ...sourceParameters,
  from_tags: tagParameter,
  ...rangeParameters,
  where: textParameter(TEXT_MAX),
  select: phrasesParameter(),
  groups: phrasesParameter(),
  limit: integerParameter(1, EVENTS_MAX),
  num_of_slices: integerParameter(1, SLICES_MAX),
  from_sequence: int64Given.optional(),
  most_recent_first: booleanParameter,
  order_by: textParameter(),
  explain_only: booleanParameter,
  async_enabled: booleanParameter,
  pagination_token: textParameter(255).describe(
    'From a link of a response; all other parameters except per_page are ignored. Valid only for the same caller.',
  ),
  per_page: integerParameter(1, EVENTS_MAX),
})

const FAILS = [404, 410, 501, 503] as const
const PAGE = { member: 'pagination_token', besides: ['per_page'] } as const
const KINDS = `Without aggregates and groups the answer has events; with aggregates it has their values over the range and in each slice; with groups the same
for each group. \`from_expr\` or \`from\` selects datasets, \`time_range\` or \`from_ts\` and \`to_ts\` the time range (default: the last 20 minutes).`

export const search = {
  get: endpoint({
    method: 'GET',
    path: '/search',
    permission: 'search_read',
    tier: 'C',
    summary: 'Search or aggregate events by URL; page links lead here',
    description: KINDS,
    query: SearchParameters,
    instead: PAGE,
    reply: SearchResponse,
    fails: FAILS,
  }),
  run: endpoint({
    method: 'POST',
    path: '/search',
    permission: 'search_read',
    tier: 'C',
    summary: 'Search or aggregate events',
    description: KINDS,
    body: SearchRequest,
    instead: PAGE,
    reply: SearchResponse,
    fails: FAILS,
  }),
  status: endpoint({
    method: 'GET',
    path: '/search/status/{statusId}',
    permission: 'search_read',
    tier: 'C',
    summary: 'Get the status and result of an asynchronous search: 202 while it runs, 201 when it has ended',
    status: 201,
    otherStatuses: { 202: 'It still runs.' },
    reply: SearchResponse,
    fails: [404, 410],
  }),
  cancel: endpoint({
    method: 'DELETE',
    path: '/search/status/{statusId}',
    permission: 'search_read',
    tier: 'C',
    summary: 'Cancel an asynchronous search; no effect if it has ended',
    status: 200,
    fails: [404, 410],
  }),
}
