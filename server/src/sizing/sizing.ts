import { BadArgument, readDemand, USAGE } from './arguments.ts'
import { figures } from './figures.ts'
import { cores, planSize, quantity, type SizePlan, text } from './plan.ts'

/** Prints how many machines a volume of events needs, and the settings. Returns the exit status. */
export function printSize(args: readonly string[], print: (line: string) => void): number {
  try {
    const demand = readDemand(args)
    for (const line of planLines(planSize(demand, figures))) print(line)
    return 0
  } catch (thrown) {
    if (!(thrown instanceof BadArgument)) throw thrown
    print(`${thrown.message}\n\n${USAGE}`)
    return 2
  }
}

function planLines(plan: SizePlan): readonly string[] {
  const machines = plan.oneMachine
    ? [
        `one machine: ${cores(plan.serviceCores + plan.storeCores)}, ${figures.processMemoryGb + figures.storeMemoryGb} GB of memory, ${text(plan.diskBytes)} of disk; npm start`,
      ]
    : [
        `${plan.processes} processes of the service: ${plan.processes - 2} that ingest, 2 for the API and jobs; ${cores(plan.serviceCores)} together, ${figures.processMemoryGb} GB of memory each`,
        `${quantity(plan.storeNodes, 'machine')} of the event store: ${quantity(plan.shards, 'shard')} with ${quantity(plan.replicas, 'replica')}; each machine ${cores(plan.storeCores / plan.storeNodes)}, ${figures.storeMemoryGb} GB of memory or more, ${text(plan.diskBytes / plan.storeNodes)} of disk`,
        ...(plan.storeNodes > 1 ? ['3 machines of ClickHouse Keeper'] : []),
        `PostgreSQL: max_connections = ${plan.postgresConnections}`,
        ...(plan.replicas === 2 ? ['', 'With 2 replicas a shard takes no events while one of them is away: use 3.'] : []),
      ]
  return [
    ...machines,
    '',
    'How this was reckoned:',
    ...plan.reasons.map((reason) => `  ${reason}`),
    '',
    'Settings:',
    ...plan.settings.map(([name, value]) => `  ${name}=${value}`.replace(/^( {2}.*, .*)=/, '$1: ')),
  ]
}
