import { parseArgs } from 'node:util'
import type { Config } from './config.ts'
import { isIdentifier, parseAddress } from './events/store/address.ts'
import { checkCluster } from './events/store/cluster-check.ts'
import { clusterPlan, planText } from './events/store/cluster-plan.ts'
import { diagnoseEvents, type EventStoreFinding } from './events/store/doctor.ts'
import { diagnoseBlobStore } from './files/open-files.ts'
import { systemClock } from './kernel/clock.ts'
import { systemIds } from './kernel/ids.ts'
import { openLogger } from './kernel/log.ts'
import { diagnoseMeta } from './meta/doctor.ts'

const OPTIONS = { plan: { type: 'boolean' }, cluster: { type: 'boolean' }, 'cluster-name': { type: 'string' } } as const

/**
 * `doctor` checks everything that a start needs and prints remedies. `--plan [--cluster-name NAME]` prints the statements that a cluster gets, and
 * `--cluster [URL]` tries them on one. Status 1 when a check fails.
 */
export async function doctor(config: Config, rest: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: [...rest], options: OPTIONS, allowPositionals: true })
  const [given, ...more] = positionals
  if (more.length > 0 || (given !== undefined && !values.cluster)) throw new Error('only --cluster takes an address: --cluster [URL]')
  const url = config.DENDRO_CLICKHOUSE_URL?.reveal()
  if (values.plan) return print(await plan(url, values['cluster-name'], config.DENDRO_CLICKHOUSE_STORAGE_POLICY))
  if (values['cluster-name'] !== undefined) throw new Error('--cluster-name belongs to --plan')
  if (values.cluster) return tryCluster(given ?? url)
  await diagnose(config, url)
}

async function tryCluster(url: string | undefined): Promise<void> {
  if (url === undefined) throw new Error('give the address of the cluster, --cluster URL, or set DENDRO_CLICKHOUSE_URL')
  await checkCluster(url, { clock: systemClock, ids: systemIds }, report)
}

async function plan(url: string | undefined, name: string | undefined, policy: string | undefined): Promise<string> {
  const address = url === undefined ? undefined : parseAddress(url)
  const cluster = name ?? address?.cluster
  if (cluster === undefined) throw new Error('give --cluster-name NAME, or name a cluster in DENDRO_CLICKHOUSE_URL (?cluster=NAME)')
  if (!isIdentifier(cluster)) throw new Error('--cluster-name may have letters, digits and _, and does not begin with a digit')
  return planText(await clusterPlan({ database: address?.database ?? 'dendro', cluster }, policy))
}

async function diagnose(config: Config, url: string | undefined): Promise<void> {
  const deps = { clock: systemClock, log: openLogger('silent'), ids: systemIds }
  const dataDir = config.DENDRO_DATA_DIR
  const findings = [
    { ok: true, what: `Node ${process.versions.node} on ${process.platform} ${process.arch}` },
    ...(await diagnoseMeta({ url: config.DENDRO_POSTGRES_URL?.reveal(), dataDir })),
    ...(await diagnoseEvents({ url, dataDir, memoryBytes: config.DENDRO_MEMORY }, deps)),
    ...(config.DENDRO_EXPORT_URL ? [await diagnoseBlobStore(config.DENDRO_EXPORT_URL)] : []),
  ]
  for (const finding of findings) report(finding)
}

function report({ ok, what, advice }: EventStoreFinding): void {
  print(`${ok ? 'ok  ' : 'BAD '} ${what}${advice ? `\n     ${advice}` : ''}\n`)
  if (!ok) process.exitCode = 1
}

const print = (text: string): void => void process.stdout.write(text)
