/**
 * The kill loop: a program writes events while its engine, the program or both are killed at random times; the final content of the store is compared
 * with a truth file of the load. `node test/programs/kill-loop.ts [rounds] [seconds] [seed]`
 */
import { type ChildProcess, fork } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Count, FromProgram, ToProgram } from './kill-loop-program.ts'

const WRITERS = 100
const ROWS_MAX = 20
const REPEAT_MS = 50
const TARGETS = ['engine', 'program', 'both'] as const
type Target = (typeof TARGETS)[number]

/** SPLIT_EVERY: each such post crosses midnight with its first line, and so takes two inserts. */
const SPLIT_EVERY = 5

/** A request that was acknowledged, or whose outcome is unknown; one without an idempotency key is never repeated. */
type Sent = { rows: number; isSplit: boolean; hasIdentity: boolean; acknowledged: boolean }
export type Round = {
  round: number
  target: Target
  afterMs: number
  backMs: number
  posts: number
  events: number
  lost: number
  double: number
  phantom: number
}

/** Runs the rounds one after the other on one data directory and passes on each comparison. */
export async function killLoop(rounds: number, roundMs: number, seed: number, done: (round: Round) => void): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'dendro-kill-loop-'))
  const random = randomFrom(seed)
  const load = makeLoad(join(root, 'truth'), random)
  let program = await startProgram(join(root, 'data'))
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const target = TARGETS[Math.floor(random() * TARGETS.length)] ?? 'both'
      const afterMs = Math.round(roundMs * (0.2 + 0.6 * random()))
      const first = load.nextPost()
      load.useProgram(program)
      const writing = load.run()
      await sleep(afterMs)
      const killedMs = performance.now()
      const acknowledged = load.acknowledgedNext()
      program = await kill(program, target, join(root, 'data'))
      load.useProgram(program)
      await acknowledged()
      const backMs = Math.round(performance.now() - killedMs)
      await sleep(Math.max(0, roundMs - afterMs - backMs))
      load.stop()
      await writing
      const counts = await askProgram(program, { kind: 'count', first, end: load.nextPost() }, 'counts')
      done({ round, target, afterMs, backMs, ...compare(load.sent, first, load.nextPost(), counts.counts) })
    }
    const { numbers, events } = await askProgram(program, { kind: 'numbers' }, 'numbers')
    if (numbers !== events) throw new Error(`${events} events have ${numbers} sequence numbers`)
  } finally {
    program.kill('SIGTERM')
    if (program.exitCode === null && program.signalCode === null) await once(program, 'exit')
    await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}

/** Counts missing, duplicate, unknown and partial events. */
function compare(sent: ReadonlyMap<number, Sent>, first: number, end: number, counts: readonly Count[]) {
  const found = new Map(counts.map((count) => [count.post, count]))
  const result = { posts: 0, events: 0, lost: 0, double: 0, phantom: counts.filter(({ post }) => !sent.has(post)).length }
  for (let post = first; post < end; post += 1) {
    const { rows, isSplit, acknowledged } = sent.get(post) ?? { rows: 0, isSplit: false, acknowledged: false }
    const { events, lines, eve } = found.get(post) ?? { events: 0, lines: 0, eve: 0 }
    if (acknowledged) {
      result.posts += 1
      result.events += rows
      if (lines < rows) result.lost += rows - lines
    } else if (!isWhole(isSplit ? [eve, lines - eve] : [lines], isSplit ? [1, rows - 1] : [rows])) {
      result.phantom += 1
    }
    result.double += events - lines
  }
  return result
}

/** Each insert of an unacknowledged request must be complete or absent. */
const isWhole = (found: readonly number[], given: readonly number[]): boolean =>
  found.every((lines, insert) => lines === 0 || lines === given[insert])

/** Writes requests by many concurrent callers; those with idempotency keys are repeated until acknowledged. */
function makeLoad(truthFile: string, random: () => number) {
  const sent = new Map<number, Sent>()
  const waiting = new Map<number, (answer: 'stored' | 'again') => void>()
  let program: ChildProcess | undefined
  let stopped = false
  let post = 0
  let next: PromiseWithResolvers<void> | undefined

  const give = (number: number, { rows, isSplit, hasIdentity }: Sent): Promise<'stored' | 'again'> =>
    new Promise((answer) => {
      waiting.set(number, answer)
      if (!program?.connected) return void settle(number, 'again')
      program.send(
        { kind: 'write', post: number, rows, isSplit, hasIdentity } satisfies ToProgram,
        (failed) => failed && settle(number, 'again'),
      )
    })

  function settle(number: number, answer: 'stored' | 'again'): void {
    waiting.get(number)?.(answer)
    waiting.delete(number)
  }

  async function write(): Promise<void> {
    while (!stopped) {
      const number = post
      post += 1
      const rows = 1 + Math.floor(random() * ROWS_MAX)
      const own: Sent = { rows, isSplit: number % SPLIT_EVERY === 0 && rows > 1, hasIdentity: random() < 0.5, acknowledged: false }
      sent.set(number, own)
      for (let answer = await give(number, own); ; answer = await give(number, own)) {
        own.acknowledged = answer === 'stored'
        if (own.acknowledged || !own.hasIdentity) break
        await sleep(REPEAT_MS)
      }
      if (!own.acknowledged) continue
      appendFileSync(truthFile, `${number} ${own.rows}\n`)
      next?.resolve()
    }
  }

  return {
    sent,
    nextPost: () => post,
    useProgram: (fresh: ChildProcess) => {
      if (program === fresh) return
      program = fresh
      fresh.on('message', (message: FromProgram) => {
        if (message.kind === 'written') settle(message.post, message.answer)
      })
      fresh.once('exit', () => {
        for (const number of [...waiting.keys()]) settle(number, 'again')
      })
    },
    /** Returns a function that waits for the next acknowledgement after its call. */
    acknowledgedNext: () => () => {
      next = Promise.withResolvers()
      return next.promise
    },
    run: async () => {
      stopped = false
      await Promise.all(Array.from({ length: WRITERS }, write))
    },
    stop: () => {
      stopped = true
    },
  }
}

async function kill(program: ChildProcess, target: Target, dataDir: string): Promise<ChildProcess> {
  const { pid } = await askProgram(program, { kind: 'engine' }, 'engine')
  if (target !== 'program') process.kill(pid, 'SIGKILL')
  if (target === 'engine') return program
  const gone = once(program, 'exit')
  program.kill('SIGKILL')
  await gone
  return startProgram(dataDir)
}

async function startProgram(dataDir: string): Promise<ChildProcess> {
  const program = fork(join(import.meta.dirname, 'kill-loop-program.ts'), [dataDir], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  await answerOf(program, 'ready')
  return program
}

async function askProgram<Kind extends FromProgram['kind']>(program: ChildProcess, message: ToProgram, kind: Kind) {
  const answer = answerOf(program, kind)
  program.send(message)
  return answer
}

function answerOf<Kind extends FromProgram['kind']>(program: ChildProcess, kind: Kind): Promise<Extract<FromProgram, { kind: Kind }>> {
  return new Promise((done, fail) => {
    const left = (status: number | null): void => fail(new Error(`the program left (status ${status}) before it said '${kind}'`))
    const hear = (message: FromProgram): void => {
      if (message.kind !== kind) return
      program.off('message', hear).off('exit', left)
      done(message as Extract<FromProgram, { kind: Kind }>)
    }
    program.on('message', hear).once('exit', left)
  })
}

/** Reproducible numbers between 0 and 1 for a seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

if (import.meta.main) {
  const [rounds = 3, seconds = 8, seed = randomInt(2 ** 31)] = process.argv.slice(2).map(Number)
  const say = (text: string): void => void process.stdout.write(`${text}\n`)
  const widths = [5, 8, 8, 8, 8, 9, 5, 7, 8]
  const row = (cells: readonly unknown[]): string => cells.map((cell, n) => String(cell).padStart(widths[n] ?? 8)).join(' ')
  let [passed, failed] = [0, 0]
  say(`seed ${seed}`)
  say(row(['round', 'killed', 'after ms', 'back ms', 'posts', 'events', 'lost', 'double', 'phantom']))
  await killLoop(rounds, 1_000 * seconds, seed, (round) => {
    say(row([round.round, round.target, round.afterMs, round.backMs, round.posts, round.events, round.lost, round.double, round.phantom]))
    if (round.lost + round.double + round.phantom === 0) passed += 1
    else failed += 1
  }).catch((cause) => {
    say(String(cause))
    failed += 1
  })
  say(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}
