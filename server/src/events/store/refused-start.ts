import { ClickHouseError } from '@clickhouse/client'
import type { StoreAddress } from './address.ts'

type StartTarget = Pick<StoreAddress, 'url' | 'cluster' | 'database'> & { isEmbedded: boolean }

/**
 * Explains a server's error during a start in one sentence: the problem, its setting and the remedy. The server's own message names neither
 * setting nor remedy. Undefined for unknown errors.
 */
export function explainStartError(thrown: unknown, target: StartTarget): Error | undefined {
  const cause = thrown instanceof Error && !(thrown instanceof ClickHouseError) ? thrown.cause : thrown
  if (!(cause instanceof ClickHouseError)) return undefined
  const sentence = sentenceOf(Number(cause.code), cause.message, target)
  return sentence === undefined ? undefined : new Error(sentence, { cause: thrown })
}

function sentenceOf(code: number, message: string, { url, cluster, database, isEmbedded: isOurs }: StartTarget): string | undefined {
  const store = isOurs ? 'the event engine' : `the event store at ${url}`
  const named = `?cluster=${cluster} in DENDRO_CLICKHOUSE_URL`
  switch (code) {
    case 170:
    case 701:
      if (cluster === undefined) return undefined
      return `${store} knows no cluster ${cluster}; ${named} must name one of its remote_servers, which "select cluster from system.clusters" shows`
    case 392:
      if (cluster === undefined || !/DDL/.test(message)) return undefined
      return `${store} cannot run a statement on all nodes of a cluster, which ${named} asks for; set up distributed_ddl and ClickHouse Keeper on every node, or leave the cluster out for a single server`
    case 139:
      if (cluster === undefined || !/macro/i.test(message)) return undefined
      return `the nodes of the cluster ${cluster} lack the macros shard and replica, which ${named} needs; give every node both in its configuration`
    case 225:
    case 999:
      return `${store} has no working ClickHouse Keeper, which replicated tables need; check keeper (zookeeper) in the configuration of its nodes, or leave ${named} out`
    case 159:
      if (cluster === undefined) return undefined
      return `not every node of the cluster ${cluster} ran the statements of the start in time; start all nodes of ${named}, or remove dead ones from the cluster`
    case 243:
      return isOurs
        ? 'the disk of the event store has no space left; free some on the disk of DENDRO_DATA_DIR and start again'
        : `the disk of ${store} has no space left; free some on that server (DENDRO_CLICKHOUSE_URL) and start again`
    case 497:
      return `the user of DENDRO_CLICKHOUSE_URL may not create the tables of the database ${database} (${firstLine(message)}); grant it all rights on that database`
    default:
      return undefined
  }
}

const firstLine = (text: string): string => text.split('\n')[0]?.slice(0, 200) ?? ''
