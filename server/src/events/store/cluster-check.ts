import { parseAddress, type StoreAddress } from './address.ts'
import { type Clients, openClients } from './clients.ts'
import {
  addEventsToShards,
  type CheckTarget,
  type ClusterNode,
  claimsOf,
  claimTwice,
  createTables,
  databasesLike,
  deleteAll,
  dropDatabase,
  eventsFrom,
  eventsOn,
  keepersOf,
  killNothing,
  macrosOf,
  nodesOf,
  syncEvents,
  versionsOf,
} from './cluster-check-rows.ts'
import { dropDatabaseStatement } from './cluster-statements.ts'
import type { EventStoreFinding } from './doctor.ts'
import type { EventDeps } from './engine.ts'
import { explainStartError } from './refused-start.ts'
import { serverVersion } from './rows.ts'

const PREFIX = 'dendro_check_'
/** Enough that each of some hundred shards gets some. */
const EVENTS = 2_000
const ASK_MS = 10_000
const ARRIVES_MS = 30_000
const AGAIN_MS = 250
/** With this number of replicas, a shard takes events while one of them is away. */
const REPLICAS_MIN = 3

type Report = (finding: EventStoreFinding) => void
type CheckDeps = Pick<EventDeps, 'clock' | 'ids'>
type Check = { readonly clients: Clients; readonly inside: Clients; readonly target: CheckTarget; readonly report: Report; deps: CheckDeps }

/**
 * Checks a cluster by using it: creates a database with a random name and all tables, writes, reads from every node, deletes, and removes the database again.
 * Other databases are left alone. Reports each check at once; after a failure, those that need it are left out.
 */
export async function checkCluster(url: string, deps: CheckDeps, report: Report): Promise<void> {
  let address: StoreAddress
  try {
    address = parseAddress(url)
  } catch (cause) {
    return report({ ok: false, what: messageOf(cause), advice: 'give the address of one of its nodes, as in DENDRO_CLICKHOUSE_URL' })
  }
  const { cluster } = address
  if (cluster === undefined) {
    return report({ ok: false, what: 'the address names no cluster', advice: 'add ?cluster=NAME with a name of remote_servers' })
  }
  const database = `${PREFIX}${deps.ids.uuid().replaceAll('-', '').slice(0, 12)}`
  const clients = openClients(address)
  const inside = openClients({ ...address, database })
  try {
    const nodes = await checkNodes(clients, cluster, report)
    if (!nodes) return
    const check: Check = { clients, inside, target: { database, cluster, nodes }, report, deps }
    await checkUse(check)
  } catch (cause) {
    report({ ok: false, what: failureOf(cause, address), advice: 'check the address, and that this node runs' })
  } finally {
    await Promise.all([clients.close(), inside.close()])
  }
}

/** Checks what the cluster is made of. Returns nothing where it cannot be used. */
async function checkNodes({ outside, address }: Clients, cluster: string, report: Report): Promise<readonly ClusterNode[] | undefined> {
  report({ ok: true, what: `${address.url} answers, version ${await serverVersion(outside, AbortSignal.timeout(ASK_MS))}` })
  const nodes = await nodesOf(outside, cluster)
  report(judgeShape(cluster, nodes))
  if (nodes.length === 0) return undefined
  const at = { cluster, nodes }
  const versions = await versionsOf(outside, at).catch((cause: unknown) => {
    report({
      ok: false,
      what: `a node of the cluster does not answer: ${failureOf(cause, address)}`,
      advice: `start all of ${nodes.map(({ name }) => name).join(', ')}, or remove from remote_servers what is gone`,
    })
    return undefined
  })
  if (!versions) return undefined
  report(judgeVersions(nodes, versions))
  report(judgeMacros(nodes, await macrosOf(outside, at)))
  report(judgeKeepers(nodes, await keepersOf(outside, at).catch(() => nodes.map(() => undefined))))
  for (const name of await databasesLike(outside, PREFIX)) {
    const advice = `if no check runs now: ${dropDatabaseStatement({ database: name, cluster })}`
    report({ ok: false, what: `an interrupted check has left the database ${name}`, advice })
  }
  return nodes
}

export function judgeShape(cluster: string, nodes: readonly ClusterNode[]): EventStoreFinding {
  const advice = `name one that "select cluster from system.clusters" shows`
  if (nodes.length === 0) return { ok: false, what: `this node knows no cluster ${cluster}`, advice }
  const twice = nodes.find(({ name }, index) => nodes.findIndex((node) => node.name === name) < index)
  if (twice) return { ok: false, what: `${twice.name} is in the cluster twice`, advice: 'name each node once in remote_servers' }
  const shards = [...Map.groupBy(nodes, ({ shard }) => shard).values()]
  const least = Math.min(...shards.map((replicas) => replicas.length))
  const copies = shards.every((replicas) => replicas.length === least) ? `${least}` : `${least} or more`
  const what = `the cluster ${cluster} has ${shards.length} ${shards.length === 1 ? 'shard' : 'shards'} of ${copies} ${copies === '1' ? 'replica' : 'replicas'}`
  const largest = Math.max(...shards.map((replicas) => replicas.length))
  const notes = [
    ...(least < REPLICAS_MIN
      ? [
          `an event is acknowledged when more than half of the replicas of its shard have it: with fewer than ${REPLICAS_MIN}, a shard takes none while one is away`,
        ]
      : []),
    ...(shards.length > 1 && largest * 2 >= nodes.length
      ? [
          'claims of sequence numbers and the ledger need more than half of all nodes: while the largest shard is away, ingestion also needs PostgreSQL, use three shards or more',
        ]
      : []),
  ]
  return notes.length === 0 ? { ok: true, what } : { ok: true, what, advice: `note: ${notes.join('; ')}` }
}

export function judgeVersions(nodes: readonly ClusterNode[], versions: readonly (string | undefined)[]): EventStoreFinding {
  const all = new Set(versions)
  if (all.size === 1) return { ok: true, what: `all ${nodes.length} nodes answer and have one version` }
  const each = nodes.map(({ name }, index) => `${name} ${versions[index] ?? 'none'}`).join(', ')
  return { ok: true, what: `the nodes answer with different versions: ${each}`, advice: 'note: let all nodes have one version' }
}

export function judgeMacros(nodes: readonly ClusterNode[], macros: readonly { shard: string; replica: string }[]): EventStoreFinding {
  const advice =
    'give each node <macros><shard>…</shard><replica>…</replica></macros>: one value of shard for all replicas of a shard, and another replica for each'
  const of = (index: number) => macros[index] ?? { shard: '', replica: '' }
  const lacking = nodes.filter((_, index) => of(index).shard === '' || of(index).replica === '')
  if (lacking.length > 0) return { ok: false, what: `no macros shard and replica on ${namesOf(lacking)}`, advice }
  const twin = nodes.find((_, index) =>
    nodes.some((_node, other) => other < index && of(other).shard === of(index).shard && of(other).replica === of(index).replica),
  )
  if (twin) return { ok: false, what: `${twin.name} has the macros of another node`, advice }
  const wrong = nodes.find((node, index) =>
    nodes.some((other, nth) => (other.shard === node.shard) !== (of(nth).shard === of(index).shard)),
  )
  if (wrong) return { ok: false, what: `the macro shard of ${wrong.name} contradicts the shards of the cluster`, advice }
  return { ok: true, what: 'the macros shard and replica of the nodes fit the cluster' }
}

export function judgeKeepers(nodes: readonly ClusterNode[], connections: readonly (number | undefined)[]): EventStoreFinding {
  const lacking = nodes.filter((_, index) => (connections[index] ?? 0) === 0)
  if (lacking.length === 0) return { ok: true, what: 'every node is connected to ClickHouse Keeper' }
  return {
    ok: false,
    what: `no connection to ClickHouse Keeper on ${namesOf(lacking)}`,
    advice:
      'name the Keeper servers in <zookeeper> of its configuration, and check that they run and have a leader (three of them, of which one may be away)',
  }
}

/** One step of the use, in words for when it succeeds and for when it fails. */
type Step = {
  readonly run: (check: Check) => Promise<string | undefined>
  readonly done: string
  readonly failed: string
  readonly advice: string
}

const CHECK_REPLICATION =
  'check that the nodes reach each other at interserver_http_host and interserver_http_port, and system.replication_queue for errors'

const steps: readonly Step[] = [
  {
    run: async ({ clients, inside, target }) => {
      await createTables(clients.outside, inside.writer, target)
      return undefined
    },
    done: 'all tables were created on every node',
    failed: 'the tables could not be created on every node',
    advice: 'set up distributed_ddl and ClickHouse Keeper on every node, and see the statements: npm run doctor -- --plan',
  },
  {
    run: async (check) => {
      await claimTwice(check.inside.writer, check.target)
      return everyNodeHas(check, claimsOf, 1)
    },
    done: 'a row of a table that every node has arrived everywhere, and its repetition was dropped',
    failed: 'a row that every node must have did not arrive everywhere once',
    advice: CHECK_REPLICATION,
  },
  {
    run: async (check) => {
      await addEventsToShards(check.inside.writer, EVENTS)
      return everyNodeHas(check, eventsFrom, EVENTS)
    },
    done: `${EVENTS} events were spread over the shards, and every node finds all of them`,
    failed: 'events could not be spread over the shards and found from every node',
    advice: 'check that every node knows the cluster, its ports, and the user and password for connections between nodes',
  },
  {
    run: async (check) => {
      await syncEvents(check.inside.writer, check.target)
      return differingReplicas(check)
    },
    done: 'all replicas of a shard have the same events, and no shard is empty',
    failed: 'the replicas of a shard differ',
    advice: CHECK_REPLICATION,
  },
  {
    run: async ({ inside, target }) => {
      await killNothing(inside.writer, target)
      return undefined
    },
    done: 'a query could be killed on every node; there was none',
    failed: 'queries cannot be killed on every node',
    advice: 'grant the user KILL QUERY on every node',
  },
  {
    run: async (check) => {
      await deleteAll(check.inside.writer, check.target)
      return everyNodeHas(check, eventsOn, 0)
    },
    done: 'the events were deleted on every node',
    failed: 'events were not deleted on every node',
    advice: 'grant the user ALTER DELETE on every node, and see system.mutations for errors',
  },
]

async function checkUse(check: Check): Promise<void> {
  const { clients, report } = check
  try {
    for (const { run, done, failed, advice } of steps) {
      const problem = await run(check).catch((cause: unknown) => failureOf(cause, clients.address))
      report(problem === undefined ? { ok: true, what: done } : { ok: false, what: `${failed}: ${problem}`, advice })
      if (problem !== undefined) return
    }
  } finally {
    await removeDatabase(check)
  }
}

async function removeDatabase({ clients, target, report }: Check): Promise<void> {
  const isLeft = async (): Promise<boolean> => (await databasesLike(clients.outside, target.database)).length > 0
  const failure = await dropDatabase(clients.outside, target)
    .then(async () => ((await isLeft()) ? 'it is still there' : undefined))
    // Where nothing could be created on all nodes, nothing is there.
    .catch(async (cause: unknown) => ((await isLeft().catch(() => true)) ? failureOf(cause, clients.address) : undefined))
  if (failure === undefined) return report({ ok: true, what: `the database ${target.database} of this check is removed` })
  const what = `the database ${target.database} of this check could not be removed: ${failure}`
  report({ ok: false, what, advice: `run on every node: ${dropDatabaseStatement({ ...target, cluster: undefined })}` })
}

type CountOnNodes = (outside: Clients['outside'], target: CheckTarget) => Promise<(number | undefined)[]>

/** Waits until every node has the number. Returns what the others have, when they never get there. */
async function everyNodeHas(check: Check, count: CountOnNodes, wanted: number): Promise<string | undefined> {
  const { clients, target, deps } = check
  const untilMs = deps.clock.monotonicMs() + ARRIVES_MS
  for (;;) {
    const found = await count(clients.outside, target)
    const others = target.nodes.flatMap(({ name }, index) => ((found[index] ?? 0) === wanted ? [] : [`${name} has ${found[index] ?? 0}`]))
    if (others.length === 0) return undefined
    if (deps.clock.monotonicMs() > untilMs) return `${others.join(', ')} instead of ${wanted}`
    await deps.clock.sleep(AGAIN_MS)
  }
}

async function differingReplicas({ clients, target }: Check): Promise<string | undefined> {
  const found = (await eventsOn(clients.outside, target)).map((count) => count ?? 0)
  return differences(target.nodes, found, EVENTS)
}

/** Says which shard has no events, or different ones on its replicas, or more than were inserted. */
export function differences(nodes: readonly ClusterNode[], counts: readonly number[], inserted: number): string | undefined {
  const shards = [
    ...Map.groupBy(
      nodes.map((node, index) => ({ ...node, count: counts[index] ?? 0 })),
      ({ shard }) => shard,
    ),
  ]
  for (const [shard, replicas] of shards) {
    if (replicas.every(({ count }) => count === 0)) return `shard ${shard} has got no events`
    if (new Set(replicas.map(({ count }) => count)).size > 1)
      return `shard ${shard} has ${replicas.map(({ name, count }) => `${count} on ${name}`).join(', ')}`
  }
  const sum = shards.reduce((total, [, [first]]) => total + (first?.count ?? 0), 0)
  return sum === inserted
    ? undefined
    : `the shards have ${sum} events instead of ${inserted}; set internal_replication of each shard to true`
}

const namesOf = (nodes: readonly ClusterNode[]): string => nodes.map(({ name }) => name).join(', ')

function failureOf(cause: unknown, { url, cluster, database }: StoreAddress): string {
  return explainStartError(cause, { url, cluster, database, isEmbedded: false })?.message ?? messageOf(cause).split('\n')[0] ?? ''
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
