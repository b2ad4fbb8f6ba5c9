import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'
import { eventsTables } from '../../lines/layout/table.ts'

/** Reserves the numbers from `first` to `next` (exclusive) for its owner. */
export type SeqClaim = { claim: bigint; first: bigint; next: bigint }

const BOUND_MS = 10_000
/** For the one query that reads everything. */
const READ_ALL_BOUND_MS = 120_000
/** Linearizable reads: they see every acknowledged write, also of other replicas. */
const LINEAR: ClickHouseSettings = { select_sequential_consistency: '1' }
const LINEAR_WRITE: ClickHouseSettings = { insert_quorum: 'auto', insert_quorum_parallel: 0 }

export const lastClaim = async (writer: ClickHouseClient): Promise<SeqClaim | undefined> => {
  const [row] = await rows<{ claim: string; first: string; next: string }>(
    writer,
    'select claim, first, next from seq_claims order by claim desc limit 1',
  )
  return row && { claim: BigInt(row.claim), first: BigInt(row.first), next: BigInt(row.next) }
}

/**
 * Stores the claim unless one with its number exists: the store drops the second of two inserts with one token, also concurrent ones. It does so
 * silently, so check claimOwners afterwards.
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
      ...(cluster === undefined ? {} : LINEAR_WRITE),
    },
  })
}

export const claimOwners = async (writer: ClickHouseClient, claim: bigint): Promise<string[]> =>
  (await rows<{ owner: string }>(writer, 'select owner from seq_claims where claim = {claim:UInt64}', { claim: String(claim) })).map(
    (row) => row.owner,
  )

/** Deletes a partition of old claims. */
export const dropClaims = async (writer: ClickHouseClient, partition: bigint, cluster: string | undefined): Promise<void> => {
  await writer.command({
    query: `alter table seq_claims ${cluster === undefined ? '' : `on cluster '${cluster}'`} drop partition {partition:UInt64}`,
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
    clickhouse_settings: LINEAR,
    abort_signal: AbortSignal.timeout(boundMs),
  })
  return answer.json<Row>()
}
