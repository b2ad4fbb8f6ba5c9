import { parseArgs } from 'node:util'
import type { Demand } from './plan.ts'

export const USAGE = `npm run size -- --per-day 200GB --retention 30d [--replicas 2] [--peak 3] [--cores 16] [--disk 4TB]

  --per-day    bytes of log lines a day, before compression
  --retention  how long events are kept
  --replicas   copies of each event, 1 or more; 1 by default
  --peak       the rate of the busiest minutes, as a multiple of the mean; 3 by default
  --cores      processor cores of one machine of the event store; 16 by default
  --disk       disk of one machine of the event store; 4TB by default`

/** An argument that cannot be used; the message names it and the rule. */
export class BadArgument extends Error {}

const sizes: ReadonlyMap<string, number> = new Map([
  ['MB', 1e6],
  ['GB', 1e9],
  ['TB', 1e12],
  ['PB', 1e15],
])
const DAYS_MAX = 36_500
const REPLICAS_MAX = 9
const PEAK_MAX = 1_000
const CORES_MAX = 1_024

export function readDemand(args: readonly string[]): Demand {
  const values = parsed(args)
  return {
    bytesPerDay: bytesIn('per-day', values['per-day']),
    retentionDays: daysIn('retention', values.retention),
    replicas: wholeIn('replicas', values.replicas ?? '1', REPLICAS_MAX),
    peak: wholeIn('peak', values.peak ?? '3', PEAK_MAX),
    node: { cores: wholeIn('cores', values.cores ?? '16', CORES_MAX), diskBytes: bytesIn('disk', values.disk ?? '4TB') },
  }
}

function parsed(args: readonly string[]) {
  const option = { type: 'string' } as const
  const options = { 'per-day': option, retention: option, replicas: option, peak: option, cores: option, disk: option }
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (thrown) {
    throw new BadArgument(thrown instanceof Error ? thrown.message : String(thrown))
  }
}

function bytesIn(name: string, given: string | undefined): number {
  const [, digits = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?) ?(MB|GB|TB|PB)$/i.exec(given ?? '') ?? []
  const bytes = Number(digits) * (sizes.get(unit.toUpperCase()) ?? Number.NaN)
  if (!(bytes > 0)) throw new BadArgument(`--${name} must be a size with a unit, such as 200GB or 2TB`)
  return bytes
}

function daysIn(name: string, given: string | undefined): number {
  const count = Number(/^(\d{1,5})d?$/.exec(given ?? '')?.[1])
  if (!(count >= 1 && count <= DAYS_MAX)) throw new BadArgument(`--${name} must be a number of days, such as 30d`)
  return count
}

function wholeIn(name: string, given: string, most: number): number {
  const count = Number(/^\d{1,4}$/.exec(given)?.[0])
  if (!(count >= 1 && count <= most)) throw new BadArgument(`--${name} must be a whole number from 1 to ${most}`)
  return count
}
