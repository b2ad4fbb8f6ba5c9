import type { Readable } from 'node:stream'
import type { Actor } from '../../../http/actor.ts'
import { Failure } from '../../../kernel/errors.ts'
import { every } from '../../../kernel/every.ts'
import type { World } from '../../../world.ts'

/** CHECK_EVERY_MS bounds how long a caller who lost access goes unnoticed while the stream waits for the store or its reader. */
const CHECK_EVERY_MS = 2_000
/** LAST_WORDS_MS is how long a stream that is over may take to say so; one whose reader does not read is cut off then. */
const LAST_WORDS_MS = 1_000

/** A StreamGuard ends a stream whose caller may not watch any more, or whose time is over, also while it waits. */
export type StreamGuard = {
  /** over aborts when the caller lost access or the time is over. */
  readonly over: AbortSignal
  readonly isLost: boolean
  /** actor is the caller with the rights of this moment; undefined when the caller may not watch any more. */
  actor(): Promise<Actor | undefined>
  /** unlessOver waits for work, but not once the stream is over. */
  unlessOver<T>(work: Promise<T>): Promise<T | undefined>
  /** guarded cuts the stream off some time after its end when nobody reads it, and ends the checks with it. */
  guarded(stream: Readable): Readable
}

type Guarded = { standing: () => Promise<Actor>; untilMs: number }

export function openStreamGuard({ clock, log }: Pick<World, 'clock' | 'log'>, { standing, untilMs }: Guarded): StreamGuard {
  const [lost, over, closed] = [new AbortController(), new AbortController(), new AbortController()]

  async function actor(): Promise<Actor | undefined> {
    if (lost.signal.aborted) return undefined
    const known = await standing().catch(goneOrThrow)
    if (known) return known
    lost.abort()
    over.abort()
    return undefined
  }

  const check = async (): Promise<void> => {
    if (clock.monotonicMs() >= untilMs) over.abort()
    else await actor()
  }

  async function cutOff(stream: Readable): Promise<void> {
    await clock.sleep(LAST_WORDS_MS, closed.signal).catch(() => undefined)
    if (!stream.readableEnded) stream.destroy(new Error('the reader of a live tail that is over does not read'))
  }

  return {
    over: over.signal,
    get isLost() {
      return lost.signal.aborted
    },
    actor,
    // A race with one promise that lasts as long as the stream would keep every result that long.
    unlessOver: (work) =>
      new Promise((resolve, reject) => {
        const end = (): void => resolve(undefined)
        if (over.signal.aborted) end()
        over.signal.addEventListener('abort', end, { once: true })
        void work.then(resolve, reject).finally(() => over.signal.removeEventListener('abort', end))
      }),
    guarded: (stream) => {
      stream.once('close', () => closed.abort())
      over.signal.addEventListener('abort', () => void cutOff(stream), { once: true })
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

/** A caller who is unknown or may not watch any more is gone; whatever else fails is a failure of ours. */
function goneOrThrow(thrown: unknown): undefined {
  if (!(thrown instanceof Failure) || (thrown.status !== 401 && thrown.status !== 403)) throw thrown
}
