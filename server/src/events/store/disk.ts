import { statfs } from 'node:fs/promises'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import { eventsDir } from './engine.ts'
import type { EventStore } from './events.ts'
import { diskSpace } from './rows.ts'

/** Space is of the disk that events are written to. */
export type Space = { freeBytes: number; totalBytes: number }
export type DiskState = 'ok' | 'tight' | 'full'

const MIB = 2 ** 20
const GIB = 2 ** 30
/** Events are refused below FREE_BYTES_MIN, or from FULL_SHARE of the disk on: merges, queries and the metadata need the rest. */
const FREE_BYTES_MIN = 512 * MIB
const FULL_SHARE = 0.95
/** WARN_SHARE is from where on a person should do something. */
const WARN_SHARE = 0.85

/** judgeSpace is the one place that says how full is full. */
export function judgeSpace({ freeBytes, totalBytes }: Space): DiskState {
  const share = 1 - freeBytes / totalBytes
  if (freeBytes < FREE_BYTES_MIN || share >= FULL_SHARE) return 'full'
  return share >= WARN_SHARE ? 'tight' : 'ok'
}

/** localSpace is what an ordinary program may use of the disk that a directory lies on. */
export async function localSpace(dir: string): Promise<Space> {
  const { bavail, bfree, blocks, bsize } = await statfs(dir)
  // What is kept for the administrator counts neither as free nor as ours.
  return { freeBytes: bavail * bsize, totalBytes: (blocks - bfree + bavail) * bsize }
}

export const spaceInWords = ({ freeBytes, totalBytes }: Space): string => `${sizeInWords(freeBytes)} of ${sizeInWords(totalBytes)} are free`

const sizeInWords = (bytes: number): string => (bytes < 10 * GIB ? `${Math.floor(bytes / MIB)} MiB` : `${Math.floor(bytes / GIB)} GiB`)

/** A DiskWatch knows how full the disk of the event store is. */
export type DiskWatch = {
  /** space is what was read last; undefined while nobody knows. */
  space(): Space | undefined
  state(): DiskState
  /** refusal says why no event is taken just now; undefined when events are taken. */
  refusal(): string | undefined
  close(): Promise<void>
}

type ReadSpace = () => Promise<Space | undefined>

const LOCAL_EVERY_MS = 1_000
const SERVER_EVERY_MS = 5_000
/** KNOWN_MS is how long a reading counts when no new one can be had. */
const KNOWN_MS = 60_000
const ASK_MS = 5_000

/** openDiskWatch has looked once when it returns. With a server of somebody else the server says how much space it has. */
export function openDiskWatch(store: EventStore, dataDir: string, deps: { clock: Clock; log: Log }): Promise<DiskWatch> {
  const isOurs = store.engine !== undefined
  const read: ReadSpace = isOurs
    ? () => localSpace(eventsDir(dataDir))
    : () => diskSpace(store.writer, store.cluster, AbortSignal.timeout(ASK_MS))
  return watchDisk(read, deps, isOurs ? LOCAL_EVERY_MS : SERVER_EVERY_MS)
}

/** watchDisk looks again and again; a look that fails leaves what is known for a while, since events must not be refused on a guess. */
export async function watchDisk(read: ReadSpace, { clock, log }: { clock: Clock; log: Log }, everyMs: number): Promise<DiskWatch> {
  const closing = new AbortController()
  let last: { space: Space; atMs: number } | undefined
  let told: DiskState = 'ok'

  const current = (): Space | undefined => (last && clock.monotonicMs() - last.atMs <= KNOWN_MS ? last.space : undefined)
  const state = (): DiskState => {
    const space = current()
    return space ? judgeSpace(space) : 'ok'
  }

  function tell(): void {
    const [now, fields] = [state(), last?.space]
    if (now === told) return
    if (now === 'full') log.error({ ...fields }, 'the disk of the event store is full: events are refused')
    else if (told === 'full') log.info({ ...fields }, 'the disk of the event store has space again: events are taken')
    else if (now === 'tight') log.warn({ ...fields }, 'the disk of the event store is getting full')
    told = now
  }

  async function look(): Promise<void> {
    try {
      const space = await read()
      if (space) last = { space, atMs: clock.monotonicMs() }
    } catch (err) {
      log.debug({ err }, 'the space on the disk of the event store could not be read')
    }
    tell()
  }

  async function keepLooking(): Promise<void> {
    while (!closing.signal.aborted) {
      await clock.sleep(everyMs, closing.signal).catch(() => undefined)
      if (!closing.signal.aborted) await look()
    }
  }

  await look()
  const looking = keepLooking()
  return {
    space: current,
    state,
    refusal: () => {
      const space = current()
      return space && judgeSpace(space) === 'full'
        ? `the disk of the event store is full: ${spaceInWords(space)}; events are taken again when there is space`
        : undefined
    },
    close: async () => {
      closing.abort()
      await looking
    },
  }
}
