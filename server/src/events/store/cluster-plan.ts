import { eventsTables, localTable } from '../../lines/layout/table.ts'
import {
  type ClusterTarget,
  createDatabaseStatement,
  deleteEverywhereStatement,
  deleteStatement,
  dropClaimsStatement,
  everyNode,
  everyShard,
  indexStatement,
  killStatement,
  majority,
  moveStatement,
  orderedMajority,
  policyStatement,
  SEQUENTIAL,
  syncStatement,
  systemTable,
  WITHOUT_WAITING,
} from './cluster-statements.ts'
import { COLD_VOLUME } from './cold-disk.ts'
import { migrationStatements } from './migrate.ts'

/** Statements that a cluster gets at one occasion. `braces` are parameters. */
export type PlanStep = { readonly when: string; readonly statements: readonly string[] }

/** Every statement that names the cluster or is different there from one server. Conditions and columns of reads are examples. */
export async function clusterPlan(target: ClusterTarget & { cluster: string }, policy = 'tiered'): Promise<PlanStep[]> {
  const { cluster } = target
  const ofEach = (statement: (table: string) => string): string[] => eventsTables.map(statement)
  return [
    {
      when: 'At the first start, and those of new migrations at the start of a later version. Each can be repeated.',
      statements: [createDatabaseStatement(target), ...(await migrationStatements(target))],
    },
    {
      when: 'At a start with DENDRO_CLICKHOUSE_STORAGE_POLICY, for tables that have another policy.',
      statements: ofEach((table) => policyStatement(cluster, table, policy)),
    },
    {
      when: 'An insert whose answer was lost, and that does not run on the node that was asked first. No node is waited for.',
      statements: [withSettings(killStatement(cluster), WITHOUT_WAITING)],
    },
    {
      when: 'Deletion of datasets, and retention: one mutation for each table.',
      statements: ofEach((table) => deleteStatement(cluster, table, '(log_id in {logs0:Array(UUID)})')),
    },
    {
      when: 'Settled parts: their late indexes.',
      statements: ofEach((table) => indexStatement(cluster, localTable(table, cluster))),
    },
    {
      when: 'Old days move to cold storage, and back.',
      statements: [COLD_VOLUME, 'default'].flatMap((volume) => ofEach((table) => moveStatement(cluster, table, volume))),
    },
    {
      when: 'Old rows of the ledger are joined, and old claims of sequence numbers go.',
      statements: [deleteEverywhereStatement(cluster, 'ledger', 'toYYYYMM(minute) = {month:UInt32}'), dropClaimsStatement(cluster)],
    },
    {
      when: 'Forwarding, before it reads.',
      statements: ofEach((table) => syncStatement(cluster, localTable(table, cluster))),
    },
    {
      when: 'Reads of every node and of every shard.',
      statements: [
        ...(['disks', 'moves', 'mutations', 'parts', 'processes'] as const).map(
          (name) => `select count() from ${systemTable(cluster, name)}`,
        ),
        `select 1 from ${everyShard(cluster)}`,
        ...ofEach((table) => `select count() from ${everyNode(cluster, `currentDatabase(), ${localTable(table, cluster)}`)}`),
        ...ofEach((table) => `select count() from ${table}`),
      ],
    },
    {
      when: 'Inserts of events go to the node that is spoken to, and count when more than half of the replicas of its shard have them.',
      statements: ofEach((table) => `insert into ${localTable(table, cluster)} settings ${settingsText(majority(cluster))} format Native`),
    },
    {
      when: 'The ledger and claims of sequence numbers lie on every node, and count when more than half of all nodes have them.',
      statements: [
        `insert into ledger settings ${settingsText(majority(cluster))} format Native`,
        `insert into seq_claims settings ${settingsText(orderedMajority(cluster))} format JSONEachRow`,
        withSettings('select claim, first, next from seq_claims order by claim desc limit 1', SEQUENTIAL),
      ],
    },
  ]
}

/** The plan as text that can be read and run piece by piece. */
export const planText = (steps: readonly PlanStep[]): string =>
  steps.map(({ when, statements }) => [`-- ${when}`, ...statements.map((statement) => `${statement};`), ''].join('\n')).join('\n')

const settingsText = (settings: Readonly<Record<string, unknown>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === 'number' ? value : `'${value}'`}`)
    .join(', ')

const withSettings = (statement: string, settings: Readonly<Record<string, unknown>>): string =>
  `${statement} settings ${settingsText(settings)}`
