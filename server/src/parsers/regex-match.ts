import { ASCII_CHARS, CHAR, EDGE, edgeNumbers, JUMP, MATCH, type RegexProgram, SAVE, SET, SPLIT } from './regex-program.ts'

/** Limits the memory of one match. A line that is too long for a large pattern is not matched. */
const VISITED_WORDS_MAX = 2 ** 21

/** The number of steps that matching may still take. */
export type StepBudget = { steps: number }
/** `places` are start and end of each capture; -1 for a field without one. */
export type MatchResult = { kind: 'match'; places: Int32Array } | { kind: 'none' } | { kind: 'given up' }

/**
 * Finds the first match with Perl's priorities. It backtracks, but never visits an instruction twice at the same position, because what
 * failed there fails again. The run time is bounded by the product of both lengths.
 */
export class RegexMatcher {
  readonly #program: RegexProgram
  readonly #places: Int32Array
  #visited = new Uint32Array(64)
  /** The words of #visited that have to be cleared. */
  #touched: number[] = []
  #stack = new Int32Array(512)

  constructor(program: RegexProgram) {
    this.#program = program
    this.#places = new Int32Array(2 * program.fields.length)
  }

  match(text: string, fuel: StepBudget): MatchResult {
    const words = Math.ceil((this.#program.markCount * (text.length + 1)) / 32)
    if (words > VISITED_WORDS_MAX) return { kind: 'given up' }
    if (this.#visited.length < words) this.#visited = new Uint32Array(Math.max(words, 2 * this.#visited.length))
    try {
      return this.#search(text, fuel)
    } finally {
      for (const word of this.#touched) this.#visited[word] = 0
      this.#touched.length = 0
    }
  }

  #search(text: string, fuel: StepBudget): MatchResult {
    const { first, isAnchored } = this.#program
    const last = isAnchored ? 0 : text.length
    for (let start = 0; start <= last; start += 1) {
      if (first && !mayBegin(first, text, start)) continue
      this.#places.fill(-1)
      const found = this.#run(text, start, fuel)
      if (fuel.steps <= 0 && !found) return { kind: 'given up' }
      if (found) return { kind: 'match', places: this.#places }
    }
    return { kind: 'none' }
  }

  /** Tries a match at one position. The stack holds untried alternatives, and captures to restore when backtracking. */
  #run(text: string, start: number, fuel: StepBudget): boolean {
    const { code, marks, ascii } = this.#program
    const places = this.#places
    const width = text.length + 1
    let [depth, pc, at, steps] = [0, 0, start, fuel.steps]
    for (;;) {
      steps -= 1
      const mark = marks[pc] as number
      let taken = -1
      if (steps > 0 && (mark < 0 || this.#visit(mark * width + at))) {
        const x = code[pc * 3 + 1] as number
        const op = code[pc * 3] as number
        if (op <= SET) {
          const unit = at < text.length ? text.charCodeAt(at) : -1
          if (unit >= ASCII_CHARS) taken = this.#takenBeyond(op, x, text, at)
          else if (unit >= 0 && (op === CHAR ? unit === x : ascii[x * ASCII_CHARS + unit] === 1)) taken = 1
        } else if (op === SPLIT) {
          depth = this.#push(depth, code[pc * 3 + 2] as number, at)
          pc = x
          continue
        } else if (op === JUMP) {
          pc = x
          continue
        } else if (op === SAVE) {
          depth = this.#push(depth, -1 - x, places[x] as number)
          places[x] = at
          taken = 0
        } else if (op === MATCH) {
          fuel.steps = steps
          return true
        } else if (op === EDGE ? isEdge(x, text, at) : this.#isNeighbour(pc, text, at)) taken = 0
      }
      if (taken >= 0) {
        at += taken
        pc += 1
        continue
      }
      depth = steps > 0 ? this.#back(depth) : 0
      if (depth === 0) {
        fuel.steps = Math.max(0, steps)
        return false
      }
      pc = this.#stack[depth - 2] as number
      at = this.#stack[depth - 1] as number
      depth -= 2
    }
  }

  /** Backtracks to the last untried alternative, which is then on top of the stack. Returns 0 when there is none. */
  #back(depth: number): number {
    const stack = this.#stack
    for (let top = depth; top > 0; top -= 2) {
      const way = stack[top - 2] as number
      if (way >= 0) return top
      this.#places[-1 - way] = stack[top - 1] as number
    }
    return 0
  }

  /** Marks an instruction as visited at a position. Returns whether it was new. */
  #visit(bit: number): boolean {
    const visited = this.#visited
    const word = bit >>> 5
    const known = visited[word] as number
    const flag = 1 << (bit & 31)
    if ((known & flag) !== 0) return false
    if (known === 0) this.#touched.push(word)
    visited[word] = known | flag
    return true
  }

  #push(depth: number, way: number, value: number): number {
    if (depth + 2 > this.#stack.length) {
      const larger = new Int32Array(2 * this.#stack.length)
      larger.set(this.#stack)
      this.#stack = larger
    }
    this.#stack[depth] = way
    this.#stack[depth + 1] = value
    return depth + 2
  }

  /** Returns the length of a non-ASCII character that the instruction matches, or -1. */
  #takenBeyond(op: number, x: number, text: string, at: number): number {
    const point = text.codePointAt(at) ?? 0
    const units = point > 0xffff ? 2 : 1
    return (op === CHAR ? point === x : this.#isIn(x, point)) ? units : -1
  }

  #isIn(number: number, char: number): boolean {
    if (char < ASCII_CHARS) return this.#program.ascii[number * ASCII_CHARS + char] === 1
    for (const [first, last] of this.#program.beyond[number] ?? []) if (char >= first && char <= last) return true
    return false
  }

  #isNeighbour(pc: number, text: string, at: number): boolean {
    const { code } = this.#program
    const how = code[pc * 3 + 2] as number
    const place = (how & 1) === 1 ? at : at - 1
    const isThere = place >= 0 && place < text.length && this.#isIn(code[pc * 3 + 1] as number, text.charCodeAt(place))
    return isThere !== ((how & 2) === 2)
  }
}

function mayBegin(first: Uint8Array, text: string, start: number): boolean {
  if (start >= text.length) return false
  const unit = text.charCodeAt(start)
  return unit >= ASCII_CHARS || first[unit] === 1
}

function isEdge(edge: number, text: string, at: number): boolean {
  if (edge === edgeNumbers.start) return at === 0
  if (edge === edgeNumbers.end) return at === text.length
  return (isWord(text, at - 1) !== isWord(text, at)) === (edge === edgeNumbers.word)
}

function isWord(text: string, at: number): boolean {
  if (at < 0 || at >= text.length) return false
  const unit = text.charCodeAt(at)
  return (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || unit === 95 || (unit >= 97 && unit <= 122)
}
