import type { Figures } from './figures.ts'

/** What is to be sized. Bytes are those of the lines as senders send them, before compression. */
export type Demand = {
  readonly bytesPerDay: number
  readonly retentionDays: number
  readonly replicas: number
  /** How many times the mean rate the busiest minutes have. */
  readonly peak: number
  readonly node: { readonly cores: number; readonly diskBytes: number }
}

export type SizePlan = {
  readonly meanMbPerSecond: number
  readonly peakMbPerSecond: number
  readonly serviceCores: number
  readonly storeCores: number
  /** Of all copies together. */
  readonly diskBytes: number
  readonly oneMachine: boolean
  readonly processes: number
  readonly shards: number
  readonly replicas: number
  readonly storeNodes: number
  readonly postgresConnections: number
  readonly settings: readonly (readonly [name: string, value: string])[]
  readonly reasons: readonly string[]
}

const MB = 1e6
const GB = 1e9
const DAY_S = 86_400
/** Processes for the API and for jobs besides those that ingest, so that one of each may fail. */
const OTHER_PROCESSES = 2
/** Ten for requests, one that listens for changes, and one more during a start. */
const CONNECTIONS_OF_A_PROCESS = 12
/** PostgreSQL keeps these for its administrators. */
const CONNECTIONS_RESERVED = 3

/** Reckons machines from measured figures. Each line of `reasons` is a formula with its numbers, as docs/scale.md explains it. */
export function planSize(demand: Demand, figures: Figures): SizePlan {
  const { bytesPerDay, retentionDays, replicas, peak, node } = demand
  const mean = bytesPerDay / DAY_S
  const top = mean * peak
  const serviceCores = ((top / GB) * figures.serviceCpuPerGb) / figures.cpuShare
  const storeCoresOfCopy = ((top / GB) * figures.storeCpuPerGb) / figures.cpuShare
  const diskOfCopy = (bytesPerDay * figures.storedShare * retentionDays * figures.mergeRoom) / figures.diskShare
  const ingesting = Math.max(1, Math.ceil(top / MB / figures.processMbPerSecond))
  const oneMachine = replicas === 1 && ingesting === 1 && serviceCores + storeCoresOfCopy <= node.cores && diskOfCopy <= node.diskBytes
  const shards = Math.max(1, Math.ceil(storeCoresOfCopy / node.cores), Math.ceil(diskOfCopy / node.diskBytes))
  const processes = oneMachine ? 1 : Math.max(2, ingesting) + OTHER_PROCESSES
  const postgresConnections = processes * CONNECTIONS_OF_A_PROCESS + CONNECTIONS_RESERVED
  return {
    meanMbPerSecond: mean / MB,
    peakMbPerSecond: top / MB,
    serviceCores,
    storeCores: storeCoresOfCopy * replicas,
    diskBytes: diskOfCopy * replicas,
    oneMachine,
    processes,
    shards,
    replicas,
    storeNodes: oneMachine ? 0 : shards * replicas,
    postgresConnections,
    settings: oneMachine ? oneMachineSettings(demand) : clusterSettings(demand, shards),
    reasons: [
      `rate: ${text(bytesPerDay)} a day / 86,400 s = ${text(mean)}/s in the mean, times ${peak} = ${text(top)}/s at the peak`,
      `service: ${text(top)}/s × ${figures.serviceCpuPerGb} CPU s/GB / ${figures.cpuShare} = ${cores(serviceCores)}`,
      `event store: ${text(top)}/s × ${figures.storeCpuPerGb} CPU s/GB / ${figures.cpuShare} = ${cores(storeCoresOfCopy)} for each copy, ${copies(replicas)}`,
      `disk: ${text(bytesPerDay)} × ${figures.storedShare} × ${quantity(retentionDays, 'day')} × ${figures.mergeRoom} / ${figures.diskShare} = ${text(diskOfCopy)} for each copy`,
      ...(oneMachine
        ? []
        : [
            `PostgreSQL: ${processes} processes × ${CONNECTIONS_OF_A_PROCESS} connections + ${CONNECTIONS_RESERVED} for its administrators = ${postgresConnections}`,
          ]),
    ],
  }
}

const oneMachineSettings = ({ retentionDays }: Demand): SizePlan['settings'] => [['DENDRO_RETENTION_DAYS', String(retentionDays)]]

const clusterSettings = ({ retentionDays, replicas }: Demand, shards: number): SizePlan['settings'] => [
  ['DENDRO_RETENTION_DAYS', String(retentionDays)],
  ['DENDRO_CLICKHOUSE_URL', `https://dendro:…@events.internal:8443/dendro${shards * replicas > 1 ? '?cluster=dendro' : ''}`],
  ['DENDRO_POSTGRES_URL', 'postgres://dendro:…@metadata.internal/dendro'],
  ['DENDRO_EXPORT_URL', 's3://…'],
  ['DENDRO_MASTER_KEY, DENDRO_JWT_SECRET', 'the same in every process'],
  ['DENDRO_ROLES', 'ingest on the processes that take events, api and work on the others'],
]

const units: readonly (readonly [number, string])[] = [
  [1e15, 'PB'],
  [1e12, 'TB'],
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
]

/** Bytes with two digits that count. */
export function text(bytes: number): string {
  const [size, unit] = units.find(([one]) => bytes >= one) ?? [1, 'B']
  const value = bytes / size
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(2))} ${unit}`
}

export const quantity = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
export const cores = (count: number): string => quantity(Math.max(0.1, Number(count.toFixed(1))), 'core')
const copies = (count: number): string => (count === 1 ? 'one copy' : `${count} copies`)
