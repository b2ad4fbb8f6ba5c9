import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { Failure } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/log.ts'
import { busy } from './budget.ts'
import { FairQueue } from './fair-queue.ts'
import type { FailureMessage, FromWorker, WorkerReply, WorkerRequest, WorkerStart } from './worker-messages.ts'

/** The work on one request. One worker runs all its steps and keeps the parsed body between them. */
export type PostJob = {
  run<Q extends WorkerRequest>(request: Q, transfer?: ArrayBuffer[]): Promise<WorkerReply<Q>>
  /** Frees the request's memory in the worker. */
  close(): void
}

export type WorkerPool = {
  /** Workers are shared between owners by time, so that the posts of one do not delay those of others. */
  open(owner: string): PostJob
  /** Starts a worker before the first post, and from then on always one more than has had posts. */
  prepare(): void
  /** The number of workers. */
  size: number
  close(): Promise<void>
}

export type PoolOptions = {
  log: Logger
  size?: number
  /** The CPU time after which a step counts as hung and its worker is replaced. */
  stepMs?: number
  /** The worker program; tests use programs that misbehave. */
  script?: URL
}

const STEP_MS = 30_000
/** Bounds a step that uses no CPU time: the checks come at half of `stepMs`. */
const CHECKS_MAX = 20
/** Bounds the heap of a worker. Bodies are outside the heap; the memory budget bounds them. */
const HEAP_MB = 512

/** Parses and splits bodies in threads, so that the main thread stays responsive. A thread starts with the first body that it gets, or prepared. */
export function openPool({
  log,
  size = Math.max(1, availableParallelism() - 1),
  stepMs = STEP_MS,
  script = SCRIPT,
}: PoolOptions): WorkerPool {
  const lanes = Array.from({ length: size }, () => new WorkerLane(script, stepMs, log))
  let jobs = 0
  let isPrepared = false
  const prepare = (): void => {
    const used = lanes.findLastIndex((lane) => lane.hasWorked)
    lanes[used + 1]?.prepare()
  }
  return {
    size,
    open: (owner) => {
      const lane = lanes.reduce((best, candidate) => (candidate.load < best.load ? candidate : best))
      jobs += 1
      const job = lane.job(jobs, owner)
      if (isPrepared) prepare()
      return job
    },
    prepare: () => {
      isPrepared = true
      prepare()
    },
    close: async () => {
      await Promise.all(lanes.map((lane) => lane.close()))
    },
  }
}

const SCRIPT = new URL('./worker.ts', import.meta.url)

type Step = {
  job: number
  owner: string
  /** The generation of the worker with the parsed body; a first step may go to any worker. */
  generation: number | undefined
  request: WorkerRequest
  transfer: ArrayBuffer[]
  resolve(reply: never): void
  reject(cause: unknown): void
}

/** A running step; `usedMs` is the CPU time of the worker at the first check. */
type Running = { step: Step; startedMs: number; timer: NodeJS.Timeout; checks: number; usedMs: number | undefined }

/** One worker and its queue. A worker that dies or hangs is replaced for the next step, and its state is lost. */
class WorkerLane {
  readonly #script: URL
  readonly #stepMs: number
  readonly #log: Logger
  readonly #waiting = new FairQueue<Step>()
  #running: Running | undefined
  #worker: Worker | undefined
  /** Counts the workers that this lane has had. */
  #generation = 0
  #isClosed = false
  #hasWorked = false
  #jobs = 0

  constructor(script: URL, stepMs: number, log: Logger) {
    this.#script = script
    this.#stepMs = stepMs
    this.#log = log
  }

  get load(): number {
    return this.#jobs
  }

  get hasWorked(): boolean {
    return this.#hasWorked
  }

  /** Starts the worker, which then gets ready for posts until one comes. */
  prepare(): void {
    if (!this.#isClosed) this.#worker ??= this.#start(true)
  }

  job(id: number, owner: string): PostJob {
    let generation: number | undefined
    let isOpen = true
    this.#jobs += 1
    this.#hasWorked = true
    return {
      run: async (request, transfer = []) => {
        const reply = await new Promise<never>((resolve, reject) => {
          this.#waiting.push(owner, { job: id, owner, generation, request, transfer, resolve, reject })
          this.#next()
        })
        generation = this.#generation
        return reply
      },
      close: () => {
        if (!isOpen) return
        isOpen = false
        this.#jobs -= 1
        if (generation === this.#generation) this.#worker?.postMessage({ job: id, request: { kind: 'forget' } })
      },
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#worker?.terminate()
    for (const step of this.#waiting.clear()) step.reject(busy('the service is stopping'))
  }

  #start(warmsUp: boolean): Worker {
    const workerData: WorkerStart = { warmsUp }
    const worker = new Worker(this.#script, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB }, workerData })
    worker.unref()
    worker.on('message', (message: FromWorker) => this.#onMessage(worker, message))
    worker.on('error', (cause) => this.#log.error({ err: cause }, 'an intake worker failed'))
    worker.on('exit', () => this.#onExit(worker))
    return worker
  }

  #next(): void {
    while (!this.#running && !this.#isClosed) {
      const step = this.#waiting.shift()
      if (!step) return
      if (step.generation !== undefined && step.generation !== this.#generation) {
        step.reject(workerLost())
        continue
      }
      const running: Running = { step, startedMs: performance.now(), timer: this.#scheduleCheck(), checks: 0, usedMs: undefined }
      this.#running = running
      this.#worker ??= this.#start(false)
      this.#worker.postMessage({ job: step.job, request: step.request }, step.transfer)
    }
  }

  #scheduleCheck(): NodeJS.Timeout {
    return setTimeout(() => void this.#check(), this.#stepMs / 2)
  }

  /** Ends a worker that has used too much CPU time. Wall time alone proves nothing: on a busy machine a step may wait long. */
  async #check(): Promise<void> {
    const [running, worker] = [this.#running, this.#worker]
    if (!running || !worker) return
    running.checks += 1
    running.timer = this.#scheduleCheck()
    const usedMs = running.checks > CHECKS_MAX ? Number.POSITIVE_INFINITY : await usedMsOf(worker)
    if (this.#running !== running || usedMs === undefined) return
    running.usedMs ??= Math.min(usedMs, Number.MAX_VALUE)
    if (usedMs - running.usedMs < this.#stepMs / 2) return
    this.#log.error({ step: running.step.request.kind }, 'an intake worker hung and is replaced')
    await worker.terminate()
  }

  #onMessage(worker: Worker, { job, reply, failure, trap }: FromWorker): void {
    if (trap !== undefined) this.#log.error({ stack: trap }, TRAPPED)
    const running = this.#running
    if (worker !== this.#worker || !running || running.step.job !== job) return
    this.#end(running)
    if (failure) running.step.reject(this.#failureOf(failure))
    else running.step.resolve(reply as never)
    this.#next()
  }

  #end({ step, timer, startedMs }: Running): void {
    clearTimeout(timer)
    this.#running = undefined
    this.#waiting.charge(step.owner, performance.now() - startedMs)
  }

  #failureOf(failure: FailureMessage): Failure {
    if (failure.kind === 'refused') return new Failure(failure.status, failure.details, { headers: failure.headers })
    this.#log.error({ stack: failure.stack }, 'an intake worker failed unexpectedly')
    return busy('the events could not be parsed because of an internal error')
  }

  #onExit(worker: Worker): void {
    if (worker !== this.#worker) return
    const running = this.#running
    if (running) {
      this.#end(running)
      running.step.reject(workerLost())
    }
    if (this.#isClosed) return
    this.#generation += 1
    this.#worker = undefined
    this.#next()
  }
}

/** The CPU time of a worker; undefined for one that has just ended. */
const usedMsOf = (worker: Worker): Promise<number | undefined> =>
  worker.cpuUsage().then(
    ({ user, system }) => (user + system) / 1_000,
    () => undefined,
  )

/** The message of the log for failures of the kernel. */
export const TRAPPED = 'the kernel failed on events, and the reference has read them'

const workerLost = (): Failure => busy('parsing the events failed because of an internal error')
