import type { BlockBuilder } from './block.ts'
import type { TextColumn } from './columns.ts'
import { LEAVES_MAX, messageKeys, ORIGINAL_TIME, timeKeys } from './event.ts'
import { encodings } from './leaf-text.ts'
import type { LineMatcher, Transition } from './match.ts'
import type { OpenMapFinder } from './open-maps.ts'
import { MASK } from './pattern.ts'
import { exceptionKeys, httpStatusKeys, levelKeys } from './severity.ts'
import { SHAPE_CHARS_MAX, slotReference, timeReference } from './shape.ts'
import type { LiveShape } from './shape-ledger.ts'
import { type Hash64, maskedHash } from './skeleton.ts'
import type { SlotMap } from './slots.ts'
import { END, NULL, STRING } from './walk.ts'

/** The facts that lines with the same symbols share, computed once. */
export type LearnedShape = {
  /** False for lines that only the reference can split. */
  readonly usual: boolean
  readonly symbols: Int32Array
  /** A value whose key comes again is like a null: only the last one counts. */
  readonly values: readonly Transition[]
  /** The columns of the values; undefined for a null and for a key without a slot. */
  readonly columns: readonly (TextColumn | undefined)[]
  /** The values whose keys have no slot. */
  readonly unplaced: readonly number[]
  /** The values of time keys, best first. */
  readonly times: readonly number[]
  /** The value of the message key, -1 for none. Without a message, `skeleton` applies to all lines; undefined when each line has its own. */
  readonly message: number
  readonly skeleton: Hash64 | undefined
  /** The values that decide the severity. */
  readonly severityValues: readonly number[]
  readonly throws: boolean
  readonly paths: ReadonlySet<string>
  /** Returns the shape in which `format` replaces the value of the event time; `timeValue` is -1 for none. */
  choose(timeValue: number, format: string, map: SlotMap): ShapeChoice
}

/** A candidate shape of the lines; `text` is undefined when none rebuilds them, or it is too long to keep. */
export type ShapeChoice = { readonly text: string | undefined; live: LiveShape | undefined }

/** Bounds the cache for datasets whose lines are all different. */
const LEARNED_VALUES_MAX = 2 ** 18

/** Looks up the facts of the line that a matcher matched last. */
export class LearnedShapes {
  private readonly byHash = new Map<number, LearnedShape[]>()
  private valuesLearned = 0
  private last: LearnedShape | undefined
  private readonly map: SlotMap
  private readonly block: BlockBuilder
  private readonly finder: OpenMapFinder

  constructor(map: SlotMap, block: BlockBuilder, finder: OpenMapFinder) {
    this.map = map
    this.block = block
    this.finder = finder
  }

  find(matcher: LineMatcher): LearnedShape {
    if (this.last && isOf(this.last, matcher)) return this.last
    const found = this.byHash.get(matcher.symbolHash)?.find((shape) => isOf(shape, matcher)) ?? this.learn(matcher)
    this.last = found
    return found
  }

  private learn(matcher: LineMatcher): LearnedShape {
    if (this.valuesLearned + matcher.count > LEARNED_VALUES_MAX) {
      this.byHash.clear()
      this.valuesLearned = 0
    }
    const shape = learnShape(matcher, this.map, this.block)
    if (matcher.isWhole) this.finder.see(shape.values.slice(0, -1))
    const others = this.byHash.get(matcher.symbolHash)
    if (others) others.push(shape)
    else this.byHash.set(matcher.symbolHash, [shape])
    this.valuesLearned += matcher.count
    return shape
  }
}

function isOf({ symbols }: LearnedShape, matcher: LineMatcher): boolean {
  const { count } = matcher
  if (symbols.length !== count) return false
  for (let at = 0; at < count; at += 1) if (symbols[at] !== matcher.symbols[at]) return false
  return true
}

function learnShape(matcher: LineMatcher, map: SlotMap, block: BlockBuilder): LearnedShape {
  const symbols = matcher.symbols.slice(0, matcher.count)
  const written = Array.from(symbols, (symbol) => matcher.transition(symbol))
  const keyed = matcher.isWhole ? written.slice(0, -1) : written
  const paths = new Set(keyed.map(({ path }) => path))
  const leaves = leavesByPath(keyed)
  const leavesOf = (keys: readonly string[]) => keys.map((path) => leaves.get(path) ?? -1).filter((value) => value >= 0)
  const message = leavesOf(messageKeys)[0] ?? -1
  const slots = keyed.map(({ path }, value) => (leaves.get(path) === value ? map.slots.get(path) : undefined))
  return {
    usual: keyed.filter(({ kind }) => kind !== NULL).length <= LEAVES_MAX && !paths.has(ORIGINAL_TIME),
    symbols,
    values: written.map((value, at) => (value.kind === END || leaves.get(value.path) === at ? value : { ...value, kind: NULL })),
    columns: slots.map((slot) => slot && block.slot(slot)),
    unplaced: [...leaves.values()].filter((value) => slots[value] === undefined),
    times: leavesOf(timeKeys),
    message,
    skeleton: message >= 0 ? NO_SKELETON : matcher.isWhole ? maskedHash(textOf(written, () => MASK)) : undefined,
    severityValues: [...new Set(leavesOf([...levelKeys, ...httpStatusKeys]))],
    throws: leavesOf(exceptionKeys).length > 0,
    paths,
    choose: matcher.isExact && paths.size === keyed.length ? chooser(written, symbols) : () => NO_SHAPE,
  }
}

/** The value that counts for each path, in the order of the paths. A null removes its path. */
function leavesByPath(keyed: readonly Transition[]): ReadonlyMap<string, number> {
  const leaves = new Map<string, number>()
  for (const [value, { path, kind }] of keyed.entries()) {
    if (kind === NULL) leaves.delete(path)
    else leaves.set(path, value)
  }
  return leaves
}

const NO_SKELETON: Hash64 = { high: 0, low: 0 }
const NO_SHAPE: ShapeChoice = { text: undefined, live: undefined }

/** Caches the shapes made so far; the last choice is found without a lookup. */
function chooser(values: readonly Transition[], symbols: Int32Array): LearnedShape['choose'] {
  const choices = new Map<string, ShapeChoice>()
  let last: { timeValue: number; format: string; choice: ShapeChoice } | undefined
  return (timeValue, format, map) => {
    if (last && last.timeValue === timeValue && last.format === format) return last.choice
    const name = `${timeValue} ${format}`
    const choice = choices.get(name) ?? { text: shapeText(values, symbols, timeValue, format, map), live: undefined }
    choices.set(name, choice)
    last = { timeValue, format, choice }
    return choice
  }
}

function shapeText(
  values: readonly Transition[],
  symbols: Int32Array,
  timeValue: number,
  format: string,
  map: SlotMap,
): string | undefined {
  const text = textOf(values, (value) => {
    if (value === timeValue) return timeReference(format)
    return slotReference(map.slots.get(values[value]?.path ?? ''), encodings[(symbols[value] ?? 0) & 3] ?? 'plain')
  })
  return text.length <= SHAPE_CHARS_MAX ? text : undefined
}

function textOf(values: readonly Transition[], put: (value: number) => string): string {
  return values
    .map(({ kind, literal }, value) => literal + (kind === END || kind === NULL ? '' : put(value)) + (kind === STRING ? '"' : ''))
    .join('')
}
