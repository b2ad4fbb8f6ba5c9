import type { FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'
import type { DirectoryOrigin } from '@dendro/api'
import {
  type ActiveSource,
  deletePositions,
  insertPosition,
  listFiles,
  movePosition,
  noteSourceCheck,
  noteSourceWaiting,
  ObjectChanged,
  type OpenDirectory,
  openDirectory,
  openFile,
  type SourceFile,
  type SourcePosition,
  selectPositions,
  wasChecked,
} from '../../resources/data/sources/sources.ts'
import { checkEnd, checkExpansion } from '../parquet/parquet-content.ts'
import { StepPlace } from '../parquet/reader-places.ts'
import { file as fileLines } from '../receivers/file/file.ts'
import { BrokenContent, compressionOf, fingerprintAt } from './content.ts'
import { advanceUntil, type ContentPart, endOf, refuseContent, saveDetails } from './content-batches.ts'
import { type FileContent, type FileDetails, isFileOf, openContent } from './file-content.ts'
import type { SourceWorld } from './post.ts'

type FilePosition = SourcePosition<FileDetails>
type DirectorySource = ActiveSource & { readonly origin: DirectoryOrigin }

const STEP_MS = 5_000
const IDLE_MS = 1_000
/** When a place to read Parquet is looked for again. */
const PLACE_AGAIN_MS = 1_000
/** Content that looks like a copy of a file that is still there may be one: after this time it counts as another file. */
const COPY_MS = 10_000
/** A last line without an end is taken when its file has not changed for this long. */
const FINAL_MS = 300_000
/** How long the position of a file is kept that is not there any more. Its copy may come late. */
const KEPT_MS = 7 * 86_400_000
const POSITIONS_MAX = 20_000
/** How many small files are read at once, since most of the time goes by until their lines are durable. */
const SMALL_AT_ONCE = 8
/** How much may be left of a file that is read with others. */
const SMALL_BYTES = 128 * 1024

/**
 * A file as of the last look: unchanged ones are not opened. `sinceMs` is when this state was seen first. `starts` is where the row groups of a Parquet file
 * begin in its lines, as far as it is known.
 */
type SeenFile = { readonly state: string; readonly sinceMs: number; isRead: boolean; isPacked: boolean; readonly starts: number[] }

/** Why a file cannot be read to its end, and whether that was counted. */
type BrokenFile = { readonly file: SourceFile; readonly reason: string; isCounted: boolean }

/** What the reading of files in one step has in common. */
type FileStep = {
  /** The parts of all files. */
  readonly here: ReadonlySet<string>
  readonly positions: Positions
  readonly untilMs: number
  readonly signal: AbortSignal
  readonly parquet: StepPlace
}

/** Reads the files of a directory. One process at a time has it, and remembers what it has seen. */
export class DirectoryReader {
  readonly #world: SourceWorld
  readonly #source: DirectorySource
  readonly #seen = new Map<string, SeenFile>()
  readonly #gone = new Map<string, number>()
  /** The files that cannot be read to their end, by their parts. */
  readonly #broken = new Map<string, BrokenFile>()
  #wasChecked = false
  /** The search for the position of the last file. */
  #finding: Promise<unknown> = Promise.resolve()
  /** While the lease is held, nobody else changes them. */
  #positions: Positions | undefined

  constructor(world: SourceWorld, source: DirectorySource) {
    this.#world = world
    this.#source = source
  }

  /** Reads for a few seconds, and returns when to go on. */
  async step(signal: AbortSignal): Promise<{ againInMs: number }> {
    const { directories, clock, meta } = this.#world
    const { org_id, id, origin } = this.#source
    const startedMs = clock.monotonicMs()
    const place = await openDirectory(directories, org_id, origin.directory)
    const files = await listFiles(place, origin)
    const listMs = clock.monotonicMs() - startedMs
    this.#positions ??= new Positions(await selectPositions<FileDetails>(meta, id))
    const positions = this.#positions
    const changed = files.filter((file) => this.#isDue(file)).sort((a, b) => a.changedMs - b.changedMs)
    this.#wasChecked ||= await wasChecked(meta, id)
    const waitingBytes = () => files.reduce((sum, file) => sum + this.#waitingOf(file, positions), 0)
    // Files that are there when a source begins at their end do not wait.
    if (changed.length > 0 && (origin.start !== 'END' || this.#wasChecked)) await noteSourceWaiting(meta, id, waitingBytes())
    // Reading gets more time than listing takes, however many files there are.
    const untilMs = clock.monotonicMs() + Math.max(STEP_MS, 2 * listMs)
    const here = new Set(files.map(({ part }) => part))
    const step = { here, positions, untilMs, signal, parquet: new StepPlace(this.#world.parquetPlaces, this.#source) }
    const isCutShort = await this.#readFiles(step, place, changed).finally(() => step.parquet.end())
    if (!isCutShort) {
      await this.#countBroken(positions)
      await this.#forget(here, positions)
      const [first] = this.#broken.values()
      const failure = first ? `${first.file.name}: ${first.reason}` : null
      await noteSourceCheck(meta, id, { waiting: waitingBytes(), failure, nowMs: clock.nowMs() })
    }
    const tookMs = clock.monotonicMs() - startedMs
    if (isCutShort) return { againInMs: step.parquet.isRefused ? PLACE_AGAIN_MS : 0 }
    return { againInMs: Math.min(30_000, Math.max(IDLE_MS, 5 * tookMs)) }
  }

  /**
   * Reads files, the first changed ones first and small ones at once. Those that a rotation may have made of each other are read one after the other. Returns
   * whether there is more.
   */
  async #readFiles(step: FileStep, place: OpenDirectory, files: readonly SourceFile[]): Promise<boolean> {
    const running = new Map<SourceFile, Promise<void>>()
    let isCutShort = false
    let failure: { readonly cause: unknown } | undefined
    const read = async (file: SourceFile): Promise<void> => {
      const handle = await openFile(place, file)
      if (handle && !(await this.#tryFile(step, file, handle))) isCutShort = true
    }
    for (const file of files) {
      while (!this.#fitsWith([...running.keys()], file, step.positions)) await Promise.race(running.values())
      if (failure || step.signal.aborted) break
      if (this.#world.clock.monotonicMs() > step.untilMs) {
        isCutShort = true
        break
      }
      const reading = read(file)
        .catch((cause: unknown) => {
          failure ??= { cause }
        })
        .finally(() => running.delete(file))
      running.set(file, reading)
    }
    await Promise.all(running.values())
    step.signal.throwIfAborted()
    if (failure) throw failure.cause
    return isCutShort
  }

  /** Whether a file may be read together with others. */
  #fitsWith(others: readonly SourceFile[], file: SourceFile, positions: Positions): boolean {
    if (others.length === 0) return true
    const isSmall = (one: SourceFile): boolean => this.#waitingOf(one, positions) <= SMALL_BYTES
    const isRelated = (one: SourceFile): boolean => isRotated(one.name, file.name) || isRotated(file.name, one.name)
    return others.length < SMALL_AT_ONCE && isSmall(file) && others.every((one) => isSmall(one) && !isRelated(one))
  }

  /** Reads what is new in a file, and closes it. Returns false when there is more. One file that cannot be read must not keep the others waiting. */
  async #tryFile(step: FileStep, file: SourceFile, handle: FileHandle): Promise<boolean> {
    const { clock } = this.#world
    const seen = this.#seen.get(file.part)
    const content = await openContent(file, handle, { signal: step.signal, starts: seen?.starts ?? [0] }).catch(async (thrown) => {
      await handle.close()
      throw thrown
    })
    if (seen) seen.isPacked = content.kind !== 'lines'
    try {
      return await this.#readFile(step, file, content)
    } catch (thrown) {
      if (thrown instanceof ObjectChanged) return true
      if (!(thrown instanceof BrokenContent)) throw thrown
      // It may still be written. A Parquet file may be written for long before it has its end.
      const waitMs = content.kind === 'parquet' && !(await hasEnd(content)) ? FINAL_MS : COPY_MS
      if (!seen || clock.monotonicMs() - seen.sinceMs <= waitMs) return true
      this.#broken.set(file.part, { file, reason: thrown.message, isCounted: false })
      seen.isRead = true
      return true
    } finally {
      await content.close()
    }
  }

  /** Bytes of a file that are not stored; of a packed one, its size until it is read. */
  #waitingOf(file: SourceFile, positions: Positions): number {
    const seen = this.#seen.get(file.part)
    if (seen?.isPacked ?? compressionOf(file.name) !== undefined) return seen?.isRead ? 0 : file.size
    return Math.max(0, file.size - positions.storedOf(file))
  }

  /** Counts each broken file as one event that was refused, once it has not changed for long. */
  async #countBroken(positions: Positions): Promise<void> {
    const nowMs = this.#world.clock.monotonicMs()
    for (const [part, broken] of this.#broken) {
      const [row, seen] = [positions.at(part), this.#seen.get(part)]
      if (broken.isCounted || !row || row.planned_to !== null || !seen || nowMs - seen.sinceMs <= FINAL_MS) continue
      const details = { ...row.details, refused: { state: stateOf(broken.file), reason: broken.reason } }
      positions.put(await refuseContent(this.#world, this.#source, row, details))
      broken.isCounted = true
    }
  }

  #isDue(file: SourceFile): boolean {
    const state = stateOf(file)
    const seen = this.#seen.get(file.part)
    if (seen?.state === state) return !seen.isRead
    this.#broken.delete(file.part)
    this.#seen.set(file.part, { state, sinceMs: this.#world.clock.monotonicMs(), isRead: false, isPacked: false, starts: [0] })
    return true
  }

  async #readFile(step: FileStep, file: SourceFile, content: FileContent): Promise<boolean> {
    const { positions, signal } = step
    const { clock } = this.#world
    const seen = this.#seen.get(file.part)
    const ageMs = clock.monotonicMs() - (seen?.sinceMs ?? 0)
    // One after the other: two files may have the content of a third one.
    const finding = this.#finding.then(() => this.#positionOf(step, file, content, ageMs))
    this.#finding = finding.catch(() => undefined)
    const found = await finding
    if (found === 'wait') return true
    const { done, refused } = found.details
    if (refused?.state === stateOf(file)) this.#broken.set(file.part, { file, reason: refused.reason, isCounted: true })
    if (done === stateOf(file) || refused?.state === stateOf(file)) {
      if (seen) seen.isRead = true
      return true
    }
    const isPacked = content.kind !== 'lines'
    const isFinal = isPacked || ageMs > FINAL_MS
    const part: ContentPart = {
      content,
      isFinal,
      parser: fileLines,
      query: { 'log.file.path': file.path },
      signal,
      isKnownByBytes: content.kind !== 'parquet',
    }
    const onRow = (row: FilePosition): void => {
      positions.put(row)
      if (content.kind === 'parquet') checkExpansion(row.position, content.bytes)
    }
    const read = () => advanceUntil(this.#world, this.#source, found, part, { untilMs: step.untilMs, onRow })
    let row: FilePosition | undefined
    if (content.kind === 'parquet') {
      await checkEnd(content.raw, content.bytes)
      row = await step.parquet.use(read, () => clock.monotonicMs() > step.untilMs)
    } else row = await read()
    if (!row) return false
    const broken = content.broken()
    if (broken) throw broken
    if (isPacked) row = await this.#finish(row, file, positions)
    if (seen) seen.isRead = isFinal || row.position >= file.size
    return true
  }

  async #finish(row: FilePosition, file: SourceFile, positions: Positions): Promise<FilePosition> {
    const details = { ...row.details, name: file.name, done: stateOf(file) }
    const done = await saveDetails(this.#world, this.#source, row, details)
    positions.put(done)
    return done
  }

  /** The position of the content of a file, which may have been read under another name. */
  async #positionOf({ positions, here }: FileStep, file: SourceFile, content: FileContent, ageMs: number): Promise<FilePosition | 'wait'> {
    const { meta, ids, clock } = this.#world
    const { id, org_id, origin } = this.#source
    const print = content.kind === 'parquet' ? { print: content.print } : {}
    const known = positions.at(file.part)
    if (known && (await isFileOf(known, content))) return { ...known, details: { ...known.details, ...print } }
    if (known) {
      // Other content is in this place: the file was truncated, or the disk has reused the place.
      await movePosition(meta, id, known.id, null)
      positions.put({ ...known, part: null })
    }
    for (const other of positions.rotatedTo(file.name)) {
      if (other.part === file.part || !(await isFileOf(other, content))) continue
      if (endOf(other) === 0) continue
      if (other.part !== null && here.has(other.part)) {
        if (ageMs < COPY_MS) return 'wait'
        continue
      }
      await movePosition(meta, id, other.id, file.part)
      const moved = { ...other, part: file.part }
      positions.put(moved)
      return moved
    }
    const isOld = origin.start === 'END' && !this.#wasChecked
    const position = isOld && content.kind === 'lines' ? file.size : 0
    const details: FileDetails = {
      name: file.name,
      ...print,
      ...(position > 0 ? await fingerprintAt(content, position) : {}),
      ...(isOld && content.kind !== 'lines' ? { done: stateOf(file) } : {}),
    }
    const row: FilePosition = { id: ids.uuid(), part: file.part, position, planned_to: null, planned_at: null, details }
    if ((await insertPosition(meta, { org_id, source_id: id }, row, clock.nowMs())) === 0) return 'wait'
    positions.put(row)
    return row
  }

  /** Deletes the positions of files that are gone for long, and the oldest ones beyond a number. */
  async #forget(here: ReadonlySet<string>, positions: Positions): Promise<void> {
    const nowMs = this.#world.clock.monotonicMs()
    for (const part of this.#seen.keys()) if (!here.has(part)) this.#seen.delete(part)
    for (const part of this.#broken.keys()) if (!here.has(part)) this.#broken.delete(part)
    const absent = positions.all().filter(({ part }) => part === null || !here.has(part))
    const ids = new Set(absent.map(({ id }) => id))
    for (const id of this.#gone.keys()) if (!ids.has(id)) this.#gone.delete(id)
    for (const { id } of absent) if (!this.#gone.has(id)) this.#gone.set(id, nowMs)
    const extra = Math.max(0, positions.all().length - POSITIONS_MAX)
    const old = absent.filter(({ id }, index) => index < extra || nowMs - (this.#gone.get(id) ?? nowMs) > KEPT_MS)
    if (old.length === 0) return
    await deletePositions(
      this.#world.meta,
      this.#source.id,
      old.map(({ id }) => id),
    )
    for (const row of old) positions.remove(row)
  }
}

/** The positions of a source by their parts. */
class Positions {
  readonly #rows = new Map<string, FilePosition>()
  readonly #ids = new Map<string, string>()
  readonly #stems = new Map<string, string>()

  constructor(rows: readonly FilePosition[]) {
    for (const row of rows) this.put(row)
  }

  put(row: FilePosition): void {
    const before = this.#rows.get(row.id)
    if (before?.part && this.#ids.get(before.part) === row.id) this.#ids.delete(before.part)
    if (row.part !== null) this.#ids.set(row.part, row.id)
    if (before?.details.name !== row.details.name) this.#stems.set(row.id, stemOf(row.details.name))
    this.#rows.set(row.id, row)
  }

  remove({ id, part }: FilePosition): void {
    this.#rows.delete(id)
    this.#stems.delete(id)
    if (part !== null && this.#ids.get(part) === id) this.#ids.delete(part)
  }

  all(): FilePosition[] {
    return [...this.#rows.values()]
  }

  /** Those of files of which a rotation may have made one of this name. */
  rotatedTo(name: string): FilePosition[] {
    const base = basename(name)
    return this.all().filter(({ id }) => base.startsWith(this.#stems.get(id) ?? base))
  }

  at(part: string): FilePosition | undefined {
    return this.#rows.get(this.#ids.get(part) ?? '')
  }

  storedOf(file: SourceFile): number {
    return this.at(file.part)?.position ?? 0
  }
}

const hasEnd = ({ raw, bytes }: FileContent & { readonly kind: 'parquet' }): Promise<boolean> =>
  checkEnd(raw, bytes).then(
    () => true,
    () => false,
  )

const stateOf = ({ size, changedMs }: SourceFile): string => `${size} ${changedMs}`

/** The beginning of the names that a rotation gives a file: its name without its last ending. */
const stemOf = (name: string): string => basename(name).replace(/(?<=.)\.[^.]*$/, '')

/** Whether a file can be what a rotation made of another one. */
export const isRotated = (before: string, name: string): boolean => basename(name).startsWith(stemOf(before))
