import { setTimeout as sleep } from 'node:timers/promises'
import { type DeployedProcess, type Deployment, restart } from './deployment.ts'
import { stop } from './service.ts'

/** What happens to a deployment in one round. `run` ends when the trouble is over, and returns what went wrong then. */
type Trouble = { name: string; run(deployment: Deployment, round: Round): Promise<readonly (string | undefined)[]> }

/** random gives numbers between 0 and 1; every length is a multiple of `unitMs`. */
type Round = { random: () => number; unitMs: number }

/** Longer than the leases of jobs, monitors and claims in units of a second. */
const LONG_UNITS = 45
const SHORT_UNITS = 6
/** One stall of this many is long. */
const LONG_ONE_OF = 3
const LOST_SHARE = 0.3

const one = <T>(random: () => number, all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
const victimOf = ({ processes }: Deployment, { random }: Round): DeployedProcess => one(random, processes)

/** Some troubles are shorter than the leases of a process, others longer, so that others take its work over while it still believes to own it. */
const lengthMs = ({ random, unitMs }: Round): number =>
  unitMs * (random() < 1 / LONG_ONE_OF && unitMs === LONG_UNIT_MS ? LONG_UNITS : 1 + random() * (SHORT_UNITS - 1))

/** Rounds with this unit have long troubles too. */
export const LONG_UNIT_MS = 1_000

const inMood = async (deployment: Deployment, round: Round, mood: 'deaf' | 'lose answers'): Promise<readonly string[]> => {
  const { network } = victimOf(deployment, round)
  Object.assign(network, { mood, harm: LOST_SHARE })
  await sleep(lengthMs(round))
  network.mood = 'pass'
  return []
}

const troubles: readonly Trouble[] = [
  {
    name: 'a process is killed',
    run: async (deployment, round) => {
      const victim = victimOf(deployment, round)
      await stop(victim.service.child, 'SIGKILL')
      await sleep(lengthMs(round))
      await victim.start()
      return []
    },
  },
  {
    name: 'a process stands still',
    run: async (deployment, round) => {
      const { child } = victimOf(deployment, round).service
      child.kill('SIGSTOP')
      await sleep(lengthMs(round))
      child.kill('SIGCONT')
      return []
    },
  },
  { name: 'a process hears nothing from the event store', run: (deployment, round) => inMood(deployment, round, 'deaf') },
  { name: 'a process loses answers of the event store', run: (deployment, round) => inMood(deployment, round, 'lose answers') },
  {
    name: 'every process restarts, one after the other',
    run: async ({ processes }) => {
      const failures: (string | undefined)[] = []
      for (const each of processes) failures.push(await restart(each))
      return failures
    },
  },
  {
    name: 'all connections to PostgreSQL are cut',
    run: async ({ database }) => {
      await database.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
      return []
    },
  },
  {
    name: 'the event store is away',
    run: async ({ processes }, round) => {
      for (const { network } of processes) network.mood = 'deaf'
      await sleep(lengthMs(round))
      for (const { network } of processes) network.mood = 'pass'
      return []
    },
  },
]

/** The troubles in an order that the seed decides: each once before any comes again. */
export function* troublesOf(random: () => number): Generator<Trouble, never> {
  for (;;) {
    const left = [...troubles]
    while (left.length > 0) {
      const [next] = left.splice(Math.floor(random() * left.length), 1)
      if (next) yield next
    }
  }
}
