/**
 * Cuts the power under stores and checks that everything they acknowledged is still there: node test/programs/power-cut.ts [rounds] [seconds of load]. Needs
 * root, to mount a file system in a file; otherwise it reports that it proves nothing.
 */
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeDisk, whyNoDisk } from '../support/power-cut-disk.ts'
import { eventsFirstStart, eventsUnderLoad } from '../support/power-cut-events.ts'

/** Compares what a store acknowledged since its creation with what it has. */
export type Tally = {
  acknowledged: number
  lost: number
  /** Counts incorrect data: duplicates, partial or altered. */
  wrong: number
  note: string
}

/** A store that is opened, loaded, cut off, reopened and verified, round after round on the same disk. */
export type StoreUnderTest = {
  name: string
  /** How long the load runs before the cut. */
  loadMs(plannedMs: number): number
  open(dir: string): Promise<void>
  /** Writes until the store fails, and records what was acknowledged before the signal: after a real cut nothing could be acknowledged. */
  load(signal: AbortSignal): Promise<void>
  /** Kills every process of the store at once, as the cut would. */
  kill(): Promise<void>
  verify(): Promise<Tally>
}

type Round = { store: string; round: number; startS: string; tally: Tally | undefined; failure: string | undefined }

const ROUNDS = 3
const LOAD_S = 15
/** START_S_MAX is the promise: a store is back this soon after a power cut, without a person. */
const START_S_MAX = 15
const [rounds, loadS] = [Number(process.argv[2] ?? ROUNDS), Number(process.argv[3] ?? LOAD_S)]
const truthFile = join(tmpdir(), `dendro-truth-${process.pid}`)

/** The tested stores. */
const stores = (): readonly StoreUnderTest[] => [eventsUnderLoad(truthFile), eventsFirstStart()]

const why = await whyNoDisk()
if (why) {
  say(`\nSKIPPED: no power was cut and nothing was proved: ${why}.\n`)
  say('0 passed, 0 failed')
} else {
  const results: Round[] = []
  for (const store of stores()) results.push(...(await cutRepeatedly(store)))
  const failed = results.filter(({ failure }) => failure !== undefined).length
  say(`${results.length - failed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}
await rm(truthFile, { force: true })

async function cutRepeatedly(store: StoreUnderTest): Promise<Round[]> {
  const disk = await makeDisk()
  const results: Round[] = []
  say(`\n${store.name}`)
  say('round   acknowledged     lost    wrong   start s')
  try {
    await store.open(disk.dir)
    for (let round = 1; round <= rounds; round += 1) {
      const result = await cutOnce(store, disk, round)
      results.push(result)
      say(lineOf(result))
      if (result.tally === undefined) break
    }
  } finally {
    await store.kill()
    await disk.remove()
  }
  return results
}

async function cutOnce(store: StoreUnderTest, disk: Awaited<ReturnType<typeof makeDisk>>, round: number): Promise<Round> {
  const stop = new AbortController()
  const loading = store.load(stop.signal)
  await sleep(store.loadMs(loadS * 1_000))
  stop.abort()
  await disk.cut()
  await store.kill()
  await loading
  await disk.restore()
  const begun = performance.now()
  try {
    await store.open(disk.dir)
    const startS = (performance.now() - begun) / 1_000
    const tally = await store.verify()
    return { store: store.name, round, startS: startS.toFixed(2), tally, failure: failureIn(tally, startS) }
  } catch (cause) {
    return {
      store: store.name,
      round,
      startS: '-',
      tally: undefined,
      failure: `did not start: ${cause instanceof Error ? cause.message : cause}`,
    }
  }
}

function failureIn({ lost, wrong }: Tally, startS: number): string | undefined {
  if (lost > 0) return `${lost} acknowledged rows are gone`
  if (wrong > 0) return `${wrong} things are not as they were written`
  return startS > START_S_MAX ? `took longer than ${START_S_MAX} s` : undefined
}

function lineOf({ round, tally, startS, failure }: Round): string {
  const columns = [String(round).padStart(5), tally?.acknowledged ?? '-', tally?.lost ?? '-', tally?.wrong ?? '-', startS]
  const [first, acknowledged, ...rest] = columns.map(String)
  const numbers = [first, acknowledged?.padStart(14), ...rest.map((text) => text.padStart(8))].join(' ')
  return `${numbers}   ${failure ? `FAILED: ${failure}. ` : ''}${tally?.note ?? ''}`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
