import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { SenderDelivery } from '../../api/src/senders.ts'
import { freePort } from '../../server/src/kernel/free-port.fixture.ts'
import { copyMadeStores, type Service, startService, stop, until, untilUp } from '../support/service.ts'
import { LINES_PER_PART } from './delivery-line.ts'
import { openStallingProxy, type StallingProxy } from './stalling-proxy.ts'

/** Sends lines with many programs while the service is killed once and the network stalls once. */
const KEY = 'dk_five-owls-in-a-row-on-the-telegraph-wire'

/** What a program sends, where to, and a folder of its own. */
export type Placement = {
  readonly home: string
  /** The proxy in front of HTTP. */
  readonly url: string
  /** The proxy in front of the listener or of HTTP; the listener itself for a program that sends without acknowledgements. */
  readonly port: number
  readonly key: string
  readonly lines: number
  /** The time of the first line; each line is a millisecond later where its program sends a time. */
  readonly startMs: number
  /** The number of events in the dataset with a text. */
  countOf(text: string): Promise<number>
  /** Runs a child that ends with the test at the latest. */
  run(args: readonly string[], options?: SpawnOptions): ChildProcess
}

export type RunningProgram = {
  send(): Promise<void>
  /** Ends the program, and fails when it complains; not needed for a child that can be killed. */
  stop?(): Promise<void>
}

/** An event as a search returns it. */
export type DeliveredEvent = {
  message_kvs: Record<string, string>
  attributes: Record<string, string>
  '@status': string
  '@raw': string
  metadata: { timestamp: number }
}

export type DeliveryProgram = {
  readonly name: string
  /** Its file in `api/senders/`. */
  readonly file: string
  /** Undefined where the program is missing. */
  readonly executable: string | undefined
  /** `unacknowledged`: the protocol has no answer, so that a kill loses lines on their way. The program sends after the kill and the stall. */
  readonly delivery: SenderDelivery | 'unacknowledged'
  /** The protocol and transport of the listener that it needs. */
  readonly listener?: string
  /** True for a program that gives up a request without an answer within seconds. */
  readonly hasTimeout?: boolean
  /** Answers that pass before the network stalls; 1 unless something else is said. */
  readonly answersBeforeStall?: number
  readonly dataset: string
  /** Fewer lines, for a program that waits for the answer to each. */
  readonly lines?: number
  /** Starts the program and waits until it reads lines. */
  start(placement: Placement): Promise<RunningProgram>
  /** True when time, severity, host and fields are those of the line. */
  isRight(event: DeliveredEvent, number: number, placement: Placement): boolean
}

export type Delivery = {
  readonly placement: Placement
  /** The events of a program by the number of their line, once every line has arrived. */
  events(): Promise<Map<number, DeliveredEvent[]>>
  stopProgram(): Promise<void>
}

export type Deliveries = {
  /** Sends the lines, kills the service and stalls the network. */
  send(): Promise<void>
  of(name: string): Delivery
  /** Ends all programs and the service. */
  close(): Promise<void>
}

type Started = { program: DeliveryProgram; proxy: StallingProxy; placement: Placement; running: RunningProgram }

export async function openDeliveries(dir: string, programs: readonly DeliveryProgram[], lines: number): Promise<Deliveries> {
  const proxies: StallingProxy[] = []
  const children: ChildProcess[] = []
  const started: Started[] = []
  const listenerPorts = new Map<string, number>()
  for (const { name, listener } of programs) if (listener !== undefined) listenerPorts.set(name, await freePort())
  const listeners = programs.map(({ name, listener }) => (listener ? `${listener}://127.0.0.1:${listenerPorts.get(name)}?key=${KEY}` : ''))
  const env = { DENDRO_BOOTSTRAP_API_KEY: KEY, DENDRO_RATE_LIMIT: 'off', DENDRO_LISTENERS: listeners.join(' ').trim() }
  const home = join(dir, 'service')
  await mkdir(home)
  await copyMadeStores(home)
  let service: Service = await untilUp(startService(home, env))
  const portOf = ({ name }: DeliveryProgram) => listenerPorts.get(name) ?? Number(new URL(service.url).port)

  type Found = { events: DeliveredEvent[]; totals: { count: number } }
  async function search(dataset: string, text: string, limit = 10_000): Promise<Found> {
    const query = { select: ['*', '@raw'], from_expr: `dataset = '${dataset}'`, where: `@raw LIKE '%${text}%'` }
    const answer = await fetch(`${service.url}/search`, {
      method: 'POST',
      headers: { 'x-service-api-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ ...query, time_range: 'Last 1 hour', limit }),
    })
    // The first event creates the dataset.
    if (answer.status === 404) return { events: [], totals: { count: 0 } }
    if (answer.status !== 200) throw new Error(`the search answered ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as Found
  }
  const countOf = async (dataset: string, text: string): Promise<number> => (await search(dataset, text, 1)).totals.count

  async function start(program: DeliveryProgram): Promise<void> {
    const { name, executable = '', dataset, delivery } = program
    const proxy = await openStallingProxy()
    proxies.push(proxy)
    proxy.passTo(portOf(program))
    const ownHome = join(dir, name)
    await mkdir(ownHome)
    const placement: Placement = {
      ...{ home: ownHome, url: `http://127.0.0.1:${proxy.port}`, key: KEY, lines: program.lines ?? lines, startMs: Date.now() },
      port: delivery === 'unacknowledged' ? portOf(program) : proxy.port,
      countOf: (text) => countOf(dataset, text),
      run: (args, options = {}) => {
        const child = spawn(executable, args, { cwd: ownHome, ...options, env: { ...process.env, DENDRO_API_KEY: KEY, ...options.env } })
        children.push(child)
        return child
      },
    }
    started.push({ program, proxy, placement, running: await program.start(placement) })
  }

  async function send(): Promise<void> {
    const isPlain = ({ delivery }: DeliveryProgram) => delivery === 'unacknowledged'
    await Promise.all(programs.filter((program) => !isPlain(program)).map(start))
    for (const { program, proxy } of started) proxy.passTo(portOf(program), { mode: 'hold answers', afterAnswers: 0 })
    await Promise.all(started.map(({ running }) => running.send()))

    // The service has stored a batch of every program when it is killed, and no program knows.
    await waitFor('stored its first batch', ({ proxy }) => proxy.held() > 0)
    await stop(service.child, 'SIGKILL')
    service = await untilUp(startService(home, env))
    for (const { program, proxy } of started)
      proxy.passTo(portOf(program), { mode: 'stall', afterAnswers: program.answersBeforeStall ?? 1 })
    await waitFor('met the stall', ({ program, proxy }) => (program.hasTimeout ? proxy.givenUp() : proxy.stalled()) > 0)
    for (const { program, proxy } of started) proxy.passTo(portOf(program))
    for (const program of programs.filter(isPlain)) {
      await start(program)
      await started.at(-1)?.running.send()
    }
  }

  async function waitFor(what: string, isSo: (one: Started) => boolean): Promise<void> {
    const late = () => started.filter((one) => !isSo(one)).map(({ program }) => program.name)
    await until(() => late().length === 0).catch(() => {
      throw new Error(`never ${what}: ${late().join(', ')}`)
    })
  }

  async function eventsOf({ program: { name, dataset }, placement }: Started): Promise<Map<number, DeliveredEvent[]>> {
    const parts = Array.from({ length: Math.ceil(placement.lines / LINES_PER_PART) }, (_, part) => part)
    const found: DeliveredEvent[] = []
    for (const part of parts) found.push(...(await search(dataset, `${name} part=${part} order`)).events)
    return Map.groupBy(found, (event) => Number(/ order number=(\d+)/.exec(event['@raw'])?.[1]))
  }

  return {
    send,
    of: (name) => {
      const one = started.find(({ program }) => program.name === name)
      if (!one) throw new Error(`${name} has not started`)
      return {
        placement: one.placement,
        events: async () => {
          let events = new Map<number, DeliveredEvent[]>()
          let count = 0
          await until(async () => {
            count = await countOf(one.program.dataset, `${name} part=`)
            if (count < one.placement.lines) return false
            events = await eventsOf(one)
            return events.size >= one.placement.lines
          }).catch(() => {
            throw new Error(`${events.size} of ${one.placement.lines} lines of ${name} arrived, as ${count} events`)
          })
          return events
        },
        stopProgram: async () => one.running.stop?.(),
      }
    },
    close: async () => {
      for (const child of children) await stop(child, 'SIGKILL')
      await stop(service.child, 'SIGKILL')
      for (const proxy of proxies) await proxy.close()
    },
  }
}
