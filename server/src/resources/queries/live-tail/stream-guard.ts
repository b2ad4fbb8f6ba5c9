import type { Readable } from 'node:stream'
import type { Actor } from '../../../http/actor.ts'
import { Failure } from '../../../kernel/errors.ts'
import { every } from '../../../kernel/every.ts'
import type { World } from '../../../world.ts'

/** The interval of access checks while the stream waits for the store or for its client. */
const CHECK_EVERY_MS = 2_000
/** A stream that is over has this long to send its last comment. After that it is destroyed, because its client does not read. */
const END_GRACE_MS = 1_000

/** Ends a stream whose caller lost access or whose time is over, even while the stream waits. */
export type StreamGuard = {
  /** Aborts when the caller lost access or the time is over. */
  readonly over: AbortSignal
  readonly isLost: boolean
  /** Returns the caller with its current permissions, or undefined when it lost access. */
  actor(): Promise<Actor | undefined>
  /** Waits for work until the stream is over. */
  unlessOver<T>(work: Promise<T>): Promise<T | undefined>
  /** Starts the checks, ends them with the stream, and destroys a stream that its client does not read to the end. */
  guarded(stream: Readable): Readable
}

type GuardOptions = { currentActor: () => Promise<Actor>; untilMs: number }

export function openStreamGuard({ clock, log }: Pick<World, 'clock' | 'log'>, { currentActor, untilMs }: GuardOptions): StreamGuard {
  const [lost, over, closed] = [new AbortController(), new AbortController(), new AbortController()]

  async function actor(): Promise<Actor | undefined> {
    if (lost.signal.aborted) return undefined
    const allowed = await currentActor().catch(undefinedIfDenied)
    if (allowed) return allowed
    lost.abort()
    over.abort()
    return undefined
  }

  const check = async (): Promise<void> => {
    if (clock.monotonicMs() >= untilMs) over.abort()
    else await actor()
  }

  async function destroyUnread(stream: Readable): Promise<void> {
    await clock.sleep(END_GRACE_MS, closed.signal).catch(() => undefined)
    if (!stream.readableEnded) stream.destroy(new Error('the reader of a live tail that is over does not read'))
  }

  return {
    over: over.signal,
    get isLost() {
      return lost.signal.aborted
    },
    actor,
    // Promise.race with a promise as long-lived as the stream would keep every result in memory until its end.
    unlessOver: (work) =>
      new Promise((resolve, reject) => {
        const end = (): void => resolve(undefined)
        if (over.signal.aborted) end()
        over.signal.addEventListener('abort', end, { once: true })
        void work.then(resolve, reject).finally(() => over.signal.removeEventListener('abort', end))
      }),
    guarded: (stream) => {
      stream.once('close', () => closed.abort())
      over.signal.addEventListener('abort', () => void destroyUnread(stream), { once: true })
      const checks = {
        clock,
        log,
        signal: closed.signal,
        first: 'later',
        failed: 'the caller of a live tail could not be checked',
      } as const
      void every(CHECK_EVERY_MS, { ...checks, level: 'debug' }, check)
      return stream
    },
  }
}

/** Maps the failures of a caller without access to undefined; all others are rethrown. */
function undefinedIfDenied(thrown: unknown): undefined {
  if (!(thrown instanceof Failure) || (thrown.status !== 401 && thrown.status !== 403)) throw thrown
}
