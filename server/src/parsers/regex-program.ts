import type { CharSet } from './char-set.ts'
import { badPattern, type RegexAnchor, type RegexTree } from './regex-syntax.ts'

/** The instructions; each has two operands. */
export const CHAR = 0
/** Matches a character of the set with this number. */
export const SET = 1
/** Continues at the first operand, and on failure at the second. */
export const SPLIT = 2
export const JUMP = 3
export const SAVE = 4
export const EDGE = 5
/** Checks one neighboring character. Operands: the set, and 1 for ahead plus 2 for negated. */
export const LOOKAROUND = 6
export const MATCH = 7

export const edgeNumbers = { start: 0, end: 1, word: 2, 'no-word': 3 } as const satisfies Record<RegexAnchor, number>

export const ASCII_CHARS = 128
const INSTRUCTIONS_MAX = 20_000
const FIELDS_MAX = 200
/** Stops patterns that repeat empty expressions a thousand times a thousand times. */
const WORK_MAX = 200_000

export type RegexProgram = {
  /** Each instruction is followed by its two operands. */
  code: Int32Array
  /** Numbers the instructions where paths meet or split; -1 for the others. */
  marks: Int32Array
  markCount: number
  /** For each set, which ASCII characters it contains; `beyond` is the rest of each. */
  ascii: Uint8Array
  beyond: readonly CharSet[]
  /** The names of the captures, in the order of their opening. */
  fields: readonly string[]
  /** The ASCII characters that a match may begin with; undefined when it may begin with any, or be empty. */
  first: Uint8Array | undefined
  isAnchored: boolean
}

/** Compiles a program. Throws a 400 when it would be too large. */
export function compileTree(tree: RegexTree): RegexProgram {
  const maker = new ProgramBuilder()
  maker.emit(tree)
  return maker.program(tree)
}

class ProgramBuilder {
  readonly #code: number[] = []
  readonly #sets: CharSet[] = []
  readonly #numbers = new Map<CharSet, number>()
  readonly #fields: string[] = []
  #work = 0

  program(tree: RegexTree): RegexProgram {
    this.#add(MATCH)
    const code = Int32Array.from(this.#code)
    const { marks, markCount } = marksOf(code)
    const ascii = new Uint8Array(ASCII_CHARS * this.#sets.length)
    for (const [number, set] of this.#sets.entries()) ascii.set(asciiOf(set), ASCII_CHARS * number)
    const beyond = this.#sets.map((set) => set.filter(([, last]) => last >= ASCII_CHARS))
    return { code, marks, markCount, ascii, beyond, fields: this.#fields, first: firstOf(tree), isAnchored: startsAtStart(tree) }
  }

  emit(tree: RegexTree): void {
    this.#work += 1
    if (this.#work > WORK_MAX) throw tooLarge()
    switch (tree.kind) {
      case 'char': {
        const [range] = tree.set
        if (tree.set.length === 1 && range && range[0] === range[1]) this.#add(CHAR, range[0])
        else this.#add(SET, this.#setNumber(tree.set))
        return
      }
      case 'sequence':
        for (const item of tree.items) this.emit(item)
        return
      case 'choice':
        this.#emitChoice(tree.items)
        return
      case 'repeat':
        this.#emitRepeat(tree)
        return
      case 'field': {
        const number = this.#fields.push(tree.name) - 1
        if (number >= FIELDS_MAX) throw badPattern(`has more than ${FIELDS_MAX} fields`, 0, 1, 'PATTERN_TOO_LARGE')
        this.#add(SAVE, 2 * number)
        this.emit(tree.item)
        this.#add(SAVE, 2 * number + 1)
        return
      }
      case 'edge':
        this.#add(EDGE, edgeNumbers[tree.edge])
        return
      case 'neighbour':
        this.#add(LOOKAROUND, this.#setNumber(tree.set), (tree.side === 'behind' ? 1 : 0) + (tree.isAbsent ? 2 : 0))
    }
  }

  #emitChoice(items: readonly RegexTree[]): void {
    const jumps: number[] = []
    for (const [index, item] of items.entries()) {
      if (index === items.length - 1) this.emit(item)
      else {
        const split = this.#add(SPLIT)
        this.#point(split, 1, this.#here)
        this.emit(item)
        jumps.push(this.#add(JUMP))
        this.#point(split, 2, this.#here)
      }
    }
    for (const jump of jumps) this.#point(jump, 1, this.#here)
  }

  #emitRepeat({ item, min, max, isLazy }: Extract<RegexTree, { kind: 'repeat' }>): void {
    const isEndless = max === Number.POSITIVE_INFINITY
    const [enter, leave] = isLazy ? [2, 1] : [1, 2]
    const before = isEndless && min > 0 ? min - 1 : min
    for (let times = 0; times < before; times += 1) this.emit(item)
    if (isEndless && min > 0) {
      const again = this.#here
      this.emit(item)
      const split = this.#add(SPLIT)
      this.#point(split, enter, again)
      this.#point(split, leave, this.#here)
      return
    }
    if (isEndless) {
      const split = this.#add(SPLIT)
      this.#point(split, enter, this.#here)
      this.emit(item)
      this.#point(this.#add(JUMP), 1, split / 3)
      this.#point(split, leave, this.#here)
      return
    }
    const splits: number[] = []
    for (let times = min; times < max; times += 1) {
      const split = this.#add(SPLIT)
      splits.push(split)
      this.#point(split, enter, this.#here)
      this.emit(item)
    }
    for (const split of splits) this.#point(split, leave, this.#here)
  }

  get #here(): number {
    return this.#code.length / 3
  }

  #add(op: number, x = 0, y = 0): number {
    const at = this.#code.length
    if (at / 3 >= INSTRUCTIONS_MAX) throw tooLarge()
    this.#code.push(op, x, y)
    return at
  }

  #point(at: number, operand: number, target: number): void {
    this.#code[at + operand] = target
  }

  #setNumber(set: CharSet): number {
    const known = this.#numbers.get(set)
    if (known !== undefined) return known
    const number = this.#sets.push(set) - 1
    this.#numbers.set(set, number)
    return number
  }
}

const tooLarge = () => badPattern('is too large once its names and repetitions are expanded', 0, 1, 'PATTERN_TOO_LARGE')

function asciiOf(set: CharSet): Uint8Array {
  const table = new Uint8Array(ASCII_CHARS)
  for (const [first, last] of set) for (let char = first; char <= last && char < ASCII_CHARS; char += 1) table[char] = 1
  return table
}

/** Finds the instructions whose visits have to be remembered: where paths split or meet. */
function marksOf(code: Int32Array): { marks: Int32Array; markCount: number } {
  const count = code.length / 3
  const arrivals = new Int32Array(count)
  for (let at = 0; at < count; at += 1) {
    const op = code[at * 3]
    if (op === SPLIT) {
      arrivals[code[at * 3 + 1] ?? 0] = (arrivals[code[at * 3 + 1] ?? 0] ?? 0) + 1
      arrivals[code[at * 3 + 2] ?? 0] = (arrivals[code[at * 3 + 2] ?? 0] ?? 0) + 1
    } else if (op === JUMP) arrivals[code[at * 3 + 1] ?? 0] = (arrivals[code[at * 3 + 1] ?? 0] ?? 0) + 1
    else if (at + 1 < count) arrivals[at + 1] = (arrivals[at + 1] ?? 0) + 1
  }
  const marks = new Int32Array(count).fill(-1)
  let markCount = 0
  for (let at = 0; at < count; at += 1) {
    if (code[at * 3] !== SPLIT && (arrivals[at] ?? 0) < 2) continue
    marks[at] = markCount
    markCount += 1
  }
  return { marks, markCount }
}

function startsAtStart(tree: RegexTree): boolean {
  if (tree.kind === 'edge') return tree.edge === 'start'
  if (tree.kind === 'field') return startsAtStart(tree.item)
  if (tree.kind === 'choice') return tree.items.every(startsAtStart)
  const head = tree.kind === 'sequence' ? tree.items[0] : undefined
  return head !== undefined && startsAtStart(head)
}

function firstOf(tree: RegexTree): Uint8Array | undefined {
  const table = new Uint8Array(ASCII_CHARS)
  return addFirst(tree, table, { left: WORK_MAX }) ? undefined : table
}

/** Adds the characters that a tree may begin with. Returns whether it may match nothing. */
function addFirst(tree: RegexTree, table: Uint8Array, work: { left: number }): boolean {
  work.left -= 1
  if (work.left < 0) return true
  switch (tree.kind) {
    case 'char':
      for (const [index, isIn] of asciiOf(tree.set).entries()) if (isIn) table[index] = 1
      return false
    case 'sequence':
      return tree.items.every((item) => addFirst(item, table, work))
    case 'choice':
      return tree.items.map((item) => addFirst(item, table, work)).includes(true)
    case 'repeat':
      return addFirst(tree.item, table, work) || tree.min === 0
    case 'field':
      return addFirst(tree.item, table, work)
    case 'edge':
    case 'neighbour':
      return true
  }
}
