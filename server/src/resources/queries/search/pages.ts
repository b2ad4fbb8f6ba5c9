import { isUuid, type Link } from '@dendro/api'
import { z } from 'zod'
import type { Actor } from '../../../http/actor.ts'
import { badRequest, forbidden, gone } from '../../../kernel/errors.ts'
import type { EventPosition } from '../../../reading/query.ts'
import type { World } from '../../../world.ts'
import { isSameIdentity } from '../../data/datasets/datasets.ts'
import { insertFirstPage, insertPage, type PageRow, removePages, selectPage } from './rows.ts'

/** The stored query of a page token, with resolved range and datasets, and the count of its first page. */
const StoredQuery = z.object({
  from: z.array(z.string()),
  where: z.string(),
  select: z.array(z.string()),
  limit: z.int(),
  from_ts: z.number(),
  to_ts: z.number(),
  most_recent_first: z.boolean(),
  from_sequence: z.string().optional(),
  count: z.number(),
  is_exact: z.boolean(),
})
export type StoredQuery = z.output<typeof StoredQuery>

/** A page that a token leads to. */
export type SearchPage = {
  readonly id: string
  readonly firstId: string
  readonly prevId: string | undefined
  /** The position where the page begins; undefined for the first page. */
  readonly after: EventPosition | undefined
  readonly storedQuery: StoredQuery
}

const TOKEN_MS = 3_600_000
/** How long an expired token still answers 410 instead of 404. */
const FORGOTTEN_MS = 24 * 3_600_000

/** Resolves a page token; 410 when it has expired. */
export async function findPage(world: Pick<World, 'meta' | 'clock'>, actor: Actor, token: string): Promise<SearchPage> {
  const row = isUuid(token) ? await selectPage(world.meta, actor.orgId, token.toLowerCase()) : undefined
  if (!row)
    throw badRequest('pagination_token is not known', { errors: [{ field: 'pagination_token', code: 'UNKNOWN', message: 'is not known' }] })
  if (!isSameIdentity(actor.identity, row.identity))
    throw forbidden('this pagination_token was given to another caller; run the search yourself')
  if (row.expires_at <= world.clock.nowMs()) throw gone('this pagination_token has expired; run the search again')
  const isFirst = row.after_ns === null || row.after_seq === null
  return {
    id: row.id,
    firstId: row.first_id,
    prevId: row.prev_id ?? undefined,
    after: isFirst ? undefined : { timeNs: BigInt(row.after_ns ?? 0), seq: BigInt(row.after_seq ?? 0) },
    storedQuery: StoredQuery.parse(row.question),
  }
}

/** The links of a page; `last` is its last event if more follow. */
export async function linksOf(
  world: Pick<World, 'meta' | 'clock' | 'ids'>,
  actor: Actor,
  page: SearchPage | undefined,
  more: { last: EventPosition; storedQuery: StoredQuery } | undefined,
): Promise<Link[]> {
  const links: Link[] = []
  if (more) links.push({ rel: 'next', href: hrefOf(actor, await keepNext(world, actor, page, more)) })
  if (page?.prevId) links.push({ rel: 'prev', href: hrefOf(actor, page.prevId) })
  if (page?.prevId) links.push({ rel: 'first', href: hrefOf(actor, page.firstId) })
  return links
}

const hrefOf = ({ facts }: Actor, token: string): string => `${facts.baseUrl}/search?pagination_token=${token}`

async function keepNext(
  { meta, clock, ids }: Pick<World, 'meta' | 'clock' | 'ids'>,
  { orgId, identity }: Actor,
  page: SearchPage | undefined,
  { last, storedQuery }: { last: EventPosition; storedQuery: StoredQuery },
): Promise<string> {
  const expires_at = clock.nowMs() + TOKEN_MS
  const firstId = page?.firstId ?? ids.uuid()
  const next: PageRow = {
    id: ids.uuid(),
    first_id: firstId,
    prev_id: page?.id ?? firstId,
    after_ns: String(last.timeNs),
    after_seq: String(last.seq),
    expires_at,
  }
  if (page) await insertPage(meta, orgId, next)
  else await insertFirstPage(meta, orgId, { id: firstId, question: storedQuery, identity }, next)
  return next.id
}

/** Removes tokens that expired long ago. */
export const forgetPages = (world: Pick<World, 'meta' | 'clock'>): Promise<number> =>
  removePages(world.meta, world.clock.nowMs() - FORGOTTEN_MS)
