import type { ClickHouseClient } from '@clickhouse/client'
import { eventsTables } from '../../lines/layout/table.ts'
import { dropClaimsStatement, orderedMajority, SEQUENTIAL } from '../store/cluster-statements.ts'

/** Reserves the numbers from `first` to `next` (exclusive) for its owner. */
export type SeqClaim = { claim: bigint; first: bigint; next: bigint }

const BOUND_MS = 10_000
/** For the one query that reads everything. */
const READ_ALL_BOUND_MS = 120_000

export const lastClaim = async (writer: ClickHouseClient): Promise<SeqClaim | undefined> => {
  const [row] = await rows<{ claim: string; first: string; next: string }>(
    writer,
    'select claim, first, next from seq_claims order by claim desc limit 1',
  )
  return row && { claim: BigInt(row.claim), first: BigInt(row.first), next: BigInt(row.next) }
}

/**
 * Stores the claim unless one with its number exists: the store drops the second of two inserts with one token, also concurrent ones. It does so
 * silently, so check claimRows afterwards.
 */
export const addClaim = async (
  writer: ClickHouseClient,
  { claim, first, next }: SeqClaim,
  owner: string,
  cluster: string | undefined,
): Promise<void> => {
  await writer.insert({
    table: 'seq_claims',
    values: [{ claim: String(claim), owner, first: String(first), next: String(next) }],
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(BOUND_MS),
    clickhouse_settings: {
      async_insert: 0,
      insert_deduplication_token: `claim ${claim}`,
      ...orderedMajority(cluster),
    },
  })
}

/** The rows of a claim; more than one after a power cut. */
export const claimRows = async (writer: ClickHouseClient, claim: bigint): Promise<{ owner: string; first: bigint }[]> =>
  (
    await rows<{ owner: string; first: string }>(writer, 'select owner, first from seq_claims where claim = {claim:UInt64}', {
      claim: String(claim),
    })
  ).map(({ owner, first }) => ({ owner, first: BigInt(first) }))

/** Deletes a partition of old claims. */
export const dropClaims = async (writer: ClickHouseClient, partition: bigint, cluster: string | undefined): Promise<void> => {
  await writer.command({
    query: dropClaimsStatement(cluster),
    query_params: { partition: String(partition) },
  })
}

/** Counts other owners with claims from `seq` on. */
export const otherOwners = async (writer: ClickHouseClient, owner: string, seq: bigint): Promise<number> => {
  const [row] = await rows<{ owners: number }>(
    writer,
    'select toUInt32(uniqExact(owner)) as owners from seq_claims where next > {seq:UInt64} and owner != {owner:UUID}',
    { seq: String(seq), owner },
  )
  return row?.owners ?? 0
}

/** Reads the whole `seq` column; used only when no claim exists. */
export const highestSeq = async (writer: ClickHouseClient): Promise<bigint> => {
  const tables = eventsTables.map((table) => `select max(seq) as highest from ${table}`)
  const [row] = await rows<{ highest: string }>(
    writer,
    `select max(highest) as highest from (${tables.join(' union all ')})`,
    {},
    READ_ALL_BOUND_MS,
  )
  return BigInt(row?.highest ?? 0)
}

async function rows<Row>(
  client: ClickHouseClient,
  query: string,
  params: Record<string, unknown> = {},
  boundMs = BOUND_MS,
): Promise<Row[]> {
  const answer = await client.query({
    query,
    query_params: params,
    format: 'JSONEachRow',
    clickhouse_settings: SEQUENTIAL,
    abort_signal: AbortSignal.timeout(boundMs),
  })
  return answer.json<Row>()
}
