import { isUuid, type Link } from '@dendro/api'
import { z } from 'zod'
import type { Actor } from '../../../http/actor.ts'
import { badRequest, forbidden, gone } from '../../../kernel/errors.ts'
import type { Position } from '../../../reading/question.ts'
import type { World } from '../../../world.ts'
import { isSame } from '../../data/datasets/datasets.ts'
import { insertFirstPage, insertPage, type PageRow, removePages, selectPage } from './rows.ts'

/** A KeptQuestion is what a page token stands for: the question with its range and datasets settled, and what was counted on its first page. */
const KeptQuestion = z.object({
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
export type KeptQuestion = z.output<typeof KeptQuestion>

/** A Page is one that a token led to. */
export type Page = {
  readonly id: string
  readonly firstId: string
  readonly prevId: string | undefined
  /** after is where it begins; undefined on the first page. */
  readonly after: Position | undefined
  readonly question: KeptQuestion
}

const TOKEN_MS = 3_600_000
/** FORGOTTEN_MS is how long an expired token is known as such. */
const FORGOTTEN_MS = 24 * 3_600_000

/** findPage is where a token leads; 410 when it has expired. */
export async function findPage(world: Pick<World, 'meta' | 'clock'>, actor: Actor, token: string): Promise<Page> {
  const row = isUuid(token) ? await selectPage(world.meta, actor.orgId, token.toLowerCase()) : undefined
  if (!row)
    throw badRequest('pagination_token is not known', { errors: [{ field: 'pagination_token', code: 'UNKNOWN', message: 'is not known' }] })
  if (!isSame(actor.identity, row.identity)) throw forbidden('this pagination_token was given to another caller; ask the question yourself')
  if (row.expires_at <= world.clock.nowMs()) throw gone('this pagination_token has expired; ask the question again')
  const isFirst = row.after_ns === null || row.after_seq === null
  return {
    id: row.id,
    firstId: row.first_id,
    prevId: row.prev_id ?? undefined,
    after: isFirst ? undefined : { timeNs: BigInt(row.after_ns ?? 0), seq: BigInt(row.after_seq ?? 0) },
    question: KeptQuestion.parse(row.question),
  }
}

/** linksOf are the links of a page of events; `last` is its last event when more follow, and a token is made for those. */
export async function linksOf(
  world: Pick<World, 'meta' | 'clock' | 'ids'>,
  actor: Actor,
  page: Page | undefined,
  more: { last: Position; question: KeptQuestion } | undefined,
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
  page: Page | undefined,
  { last, question }: { last: Position; question: KeptQuestion },
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
  else await insertFirstPage(meta, orgId, { id: firstId, question, identity }, next)
  return next.id
}

/** forgetPages removes tokens that expired long ago; they are unknown from then on. */
export const forgetPages = (world: Pick<World, 'meta' | 'clock'>): Promise<number> =>
  removePages(world.meta, world.clock.nowMs() - FORGOTTEN_MS)
