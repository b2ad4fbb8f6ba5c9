import { statfs } from 'node:fs/promises'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/log.ts'
import { eventsDir } from './engine.ts'
import type { EventStore } from './events.ts'
import { diskSpace } from './rows.ts'

/** Space of the disk that holds the events. */
export type DiskSpace = { freeBytes: number; totalBytes: number }
export type DiskState = 'ok' | 'tight' | 'full'

const MIB = 2 ** 20
const GIB = 2 ** 30
/** Events are refused below FREE_BYTES_MIN, or when FULL_SHARE of the disk is used: merges, queries and the metadata need the rest. */
const FREE_BYTES_MIN = 512 * MIB
const FULL_SHARE = 0.95
/** From this share on, an administrator should act. */
const WARN_SHARE = 0.85

/** The single definition of a full disk. */
export function judgeSpace({ freeBytes, totalBytes }: DiskSpace): DiskState {
  const share = 1 - freeBytes / totalBytes
  if (freeBytes < FREE_BYTES_MIN || share >= FULL_SHARE) return 'full'
  return share >= WARN_SHARE ? 'tight' : 'ok'
}

/** The space that an unprivileged program can use on the disk of a directory. */
export async function localSpace(dir: string): Promise<DiskSpace> {
  const { bavail, bfree, blocks, bsize } = await statfs(dir)
  // Space reserved for the administrator counts neither as free nor as total.
  return { freeBytes: bavail * bsize, totalBytes: (blocks - bfree + bavail) * bsize }
}

export const spaceInWords = ({ freeBytes, totalBytes }: DiskSpace): string =>
  `${sizeInWords(freeBytes)} of ${sizeInWords(totalBytes)} are free`

const sizeInWords = (bytes: number): string => (bytes < 10 * GIB ? `${Math.floor(bytes / MIB)} MiB` : `${Math.floor(bytes / GIB)} GiB`)

/** Monitors the disk of the event store. */
export type DiskWatch = {
  /** The last reading; undefined while none is valid. */
  space(): DiskSpace | undefined
  state(): DiskState
  /** The reason why events are rejected; undefined while they are accepted. */
  refusal(): string | undefined
  close(): Promise<void>
}

type SpaceReader = () => Promise<DiskSpace | undefined>

const LOCAL_EVERY_MS = 1_000
const SERVER_EVERY_MS = 5_000
/** How long a reading stays valid when no new one is available. */
const KNOWN_MS = 60_000
const ASK_MS = 5_000

/** Reads the space once before it returns. An external server reports its own disk space. */
export function openDiskWatch(store: EventStore, dataDir: string, deps: { clock: Clock; log: Logger }): Promise<DiskWatch> {
  const isEmbedded = store.engine !== undefined
  const read: SpaceReader = isEmbedded
    ? () => localSpace(eventsDir(dataDir))
    : () => diskSpace(store.writer, store.cluster, AbortSignal.timeout(ASK_MS))
  return watchDisk(read, deps, isEmbedded ? LOCAL_EVERY_MS : SERVER_EVERY_MS)
}

/** Polls the disk space. After a failed reading the last one stays valid for a while, since events must not be rejected on a guess. */
export async function watchDisk(read: SpaceReader, { clock, log }: { clock: Clock; log: Logger }, everyMs: number): Promise<DiskWatch> {
  const closing = new AbortController()
  let last: { space: DiskSpace; atMs: number } | undefined
  let loggedState: DiskState = 'ok'

  const current = (): DiskSpace | undefined => (last && clock.monotonicMs() - last.atMs <= KNOWN_MS ? last.space : undefined)
  const state = (): DiskState => {
    const space = current()
    return space ? judgeSpace(space) : 'ok'
  }

  function logChange(): void {
    const [now, fields] = [state(), last?.space]
    if (now === loggedState) return
    if (now === 'full') log.error({ ...fields }, 'the disk of the event store is full: events are refused')
    else if (loggedState === 'full') log.info({ ...fields }, 'the disk of the event store has space again: events are accepted')
    else if (now === 'tight') log.warn({ ...fields }, 'the disk of the event store is getting full')
    loggedState = now
  }

  async function refresh(): Promise<void> {
    try {
      const space = await read()
      if (space) last = { space, atMs: clock.monotonicMs() }
    } catch (err) {
      log.debug({ err }, 'the disk space of the event store could not be read')
    }
    logChange()
  }

  async function poll(): Promise<void> {
    while (!closing.signal.aborted) {
      await clock.sleep(everyMs, closing.signal).catch(() => undefined)
      if (!closing.signal.aborted) await refresh()
    }
  }

  await refresh()
  const polling = poll()
  return {
    space: current,
    state,
    refusal: () => {
      const space = current()
      return space && judgeSpace(space) === 'full'
        ? `the disk of the event store is full: ${spaceInWords(space)}; events are accepted again when there is space`
        : undefined
    },
    close: async () => {
      closing.abort()
      await polling
    },
  }
}
