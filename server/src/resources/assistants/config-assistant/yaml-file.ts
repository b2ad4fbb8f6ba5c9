import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  visit,
  type YAMLMap,
} from 'yaml'
import { type ConfigProblem, UnreadableConfig } from './agent.ts'
import { keepFormatting, linesOf } from './diff.ts'

type Path = readonly (string | number)[]

const PROBLEMS_MAX = 100

/** A YAML file that can be changed; comments, order, anchors and notation are kept. */
export class YamlFile {
  readonly #doc: Document
  readonly #lines = new LineCounter()
  readonly #style: { indent: number; indentSeq: boolean }

  readonly #given: string
  /** The file as it would be serialized without a change. */
  readonly #normal: string

  constructor(text: string, displayName: string) {
    this.#given = text
    this.#style = styleOf(text)
    this.#doc = this.#read(text, displayName)
    this.#normal = text === '' ? '' : this.#written(this.#doc)
  }

  #read(text: string, displayName: string): Document {
    const documents = parsed(text, this.#lines)
    const [first, second] = documents
    if (!first) return emptyDocument()
    if (second) throw new UnreadableConfig([{ message: `${displayName} reads one YAML document, and there are ${documents.length}` }])
    if (first.errors.length > 0) {
      const problems = first.errors.slice(0, PROBLEMS_MAX).map(({ message, pos }) => ({ line: this.#lines.linePos(pos[0]).line, message }))
      throw new UnreadableConfig(problems)
    }
    this.#refuseTwins(first as Document)
    if (first.contents === null) {
      const { commentBefore, comment } = first
      const empty = emptyDocument()
      empty.commentBefore = commentBefore ?? comment
      return empty as unknown as Document
    }
    if (!isMap(first.contents)) throw new UnreadableConfig([{ line: 1, message: `a configuration of ${displayName} is a YAML mapping` }])
    return first as Document
  }

  /** Rejects duplicate keys; the parser compares each key with every other, which is quadratic. */
  #refuseTwins(document: Document): void {
    const twins: ConfigProblem[] = []
    visit(document, {
      Map: (_, map) => {
        const seen = new Set<string>()
        for (const pair of map.items) {
          const key = keyOf(pair)
          if (seen.has(key) && key !== '<<') twins.push({ ...this.#lineOf(pair.key), message: `the key ${key} stands twice` })
          seen.add(key)
        }
      },
    })
    if (twins.length > 0) throw new UnreadableConfig(twins.slice(0, PROBLEMS_MAX))
  }

  get isEmpty(): boolean {
    return this.keys([]).length === 0
  }

  set header(comment: string) {
    this.#doc.commentBefore = comment
  }

  has(path: Path): boolean {
    return this.#doc.hasIn(path)
  }

  /** A scalar as text. */
  text(path: Path): string | undefined {
    const value = this.#doc.getIn(path)
    return value === undefined || value === null || typeof value === 'object' ? undefined : String(value)
  }

  /** The scalars of a list; a lone scalar is a list of one. */
  texts(path: Path): string[] {
    const node = this.#node(path)
    if (isScalar(node)) return node.value === null ? [] : [String(node.value)]
    return isSeq(node) ? node.items.flatMap((item) => (isScalar(item) ? [String(item.value)] : [])) : []
  }

  keys(path: Path): string[] {
    const node = this.#node(path)
    return isMap(node) ? node.items.map(keyOf) : []
  }

  /** The number of items of a list; undefined if there is no list. */
  length(path: Path): number | undefined {
    const node = this.#node(path)
    return isSeq(node) ? node.items.length : undefined
  }

  isMapping(path: Path): boolean {
    return isMap(this.#node(path))
  }

  line(path: Path): number | undefined {
    const found = this.#node(path) ?? this.#node(path.slice(0, -1))
    return this.#lineOf(found).line
  }

  #lineOf(node: unknown): { line?: number } {
    const offset = isNode(node) ? node.range?.[0] : undefined
    return offset === undefined ? {} : { line: this.#lines.linePos(offset).line }
  }

  /** Sets a value and creates the mappings on the way; `comment` goes above a new key. */
  set(path: Path, value: unknown, comment?: string): void {
    const isThere = this.#doc.hasIn(path)
    const old = isThere ? this.#node(path) : undefined
    if (isScalar(old) && (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')) {
      old.value = value
      old.source = undefined as never
      return
    }
    this.#makeWay(path.slice(0, -1))
    this.#doc.setIn(path, this.#doc.createNode(value))
    if (comment !== undefined && !isThere) this.#comment(path, comment)
  }

  /** Appends an item to a list or inserts it before a position, and creates the list if absent. */
  add(path: Path, value: unknown, { before, comment }: { before?: number; comment?: string } = {}): void {
    const found = this.#node(path)
    if (isScalar(found) && found.value !== null) this.#doc.setIn(path, this.#doc.createNode([found.value]))
    if (!isSeq(this.#node(path))) this.set(path, [])
    const list = this.#node(path)
    if (!isSeq(list)) return
    // A flow list stays one; an empty one of ours becomes a block when it gets mappings.
    if (list.items.length === 0 && typeof value === 'object') list.flow = false
    const node = this.#doc.createNode(value)
    if (comment !== undefined) node.commentBefore = ` ${comment}`
    list.items.splice(before ?? list.items.length, 0, node)
  }

  remove(path: Path): void {
    this.#doc.deleteIn(path)
  }

  /** Writes a list of names in flow style. */
  listOnOneLine(path: Path, items: readonly string[]): void {
    this.#makeWay(path.slice(0, -1))
    this.#doc.setIn(path, this.#doc.createNode(items, { flow: true }))
  }

  /** A part of the file as plain values; only for small parts that were just found. */
  value(path: Path): unknown {
    const node = this.#node(path)
    return node === undefined ? undefined : node.toJS(this.#doc, { maxAliasCount: 20 })
  }

  /** Keeps the original notation of everything unchanged, unless that would change the meaning. */
  toString(): string {
    const changed = this.#written(this.#doc)
    if (changed === this.#normal) return this.#given
    if (this.#given === '') return changed
    const kept = `${keepFormatting(linesOf(this.#given), linesOf(this.#normal), linesOf(changed)).join('\n')}\n`
    const [read] = parsed(kept, new LineCounter())
    return read && read.errors.length === 0 && this.#written(read) === changed ? kept : changed
  }

  #written(document: Document): string {
    return document.toString({ lineWidth: 0, flowCollectionPadding: false, ...this.#style })
  }

  #node(path: Path): Node | undefined {
    const node = this.#doc.getIn(path, true)
    return node === null || typeof node !== 'object' ? undefined : (node as Node)
  }

  #makeWay(path: Path): void {
    for (let depth = 1; depth <= path.length; depth += 1) {
      const part = path.slice(0, depth)
      const node = this.#node(part)
      if (!isMap(node) && !isSeq(node)) this.#doc.setIn(part, this.#doc.createNode({}))
      else if (isMap(node) && node.flow && node.items.length === 0) node.flow = false
    }
  }

  #comment(path: Path, comment: string): void {
    const parent = path.length === 1 ? (this.#doc.contents as YAMLMap) : this.#node(path.slice(0, -1))
    if (!isMap(parent)) return
    const pair = parent.items.find((item) => keyOf(item) === String(path.at(-1)))
    if (!pair) return
    const key = isScalar(pair.key) ? pair.key : this.#doc.createNode(String(pair.key))
    key.commentBefore = ` ${comment}`
    pair.key = key
  }
}

const keyOf = ({ key }: Pair): string => (isScalar(key) ? String(key.value) : String(key))

/** The parser takes minutes for thousands of nested levels, and real files have few. */
const DEPTH_MAX = 100

function parsed(text: string, lineCounter: LineCounter): Document[] {
  let depth = 0
  for (const sign of text) {
    if (sign === '[' || sign === '{') depth += 1
    else if (sign === ']' || sign === '}') depth = Math.max(0, depth - 1)
    if (depth > DEPTH_MAX) break
  }
  const isDeep = depth > DEPTH_MAX || /(?:[-?:] ){100}/.test(text) || /^ {1000}/m.test(text)
  if (isDeep) throw new UnreadableConfig([{ message: 'the file is nested too deeply' }])
  try {
    return [...parseAllDocuments(text, { lineCounter, prettyErrors: false, uniqueKeys: false })] as unknown as Document[]
  } catch (cause) {
    if (cause instanceof RangeError) throw new UnreadableConfig([{ message: 'the file is nested too deeply' }])
    throw cause
  }
}

function emptyDocument(): Document {
  const [document] = parseAllDocuments('{}\n')
  const made = document as unknown as Document
  if (isMap(made.contents)) made.contents.flow = false
  return made
}

const STYLE_LINES_MAX = 1_000

/** Detects the indentation of a file, so that unchanged parts stay as they are. */
function styleOf(text: string): { indent: number; indentSeq: boolean } {
  const lines = linesOf(text)
  // The narrowest indentation is one step; wider ones may come from lists.
  const widths = lines.map((line) => /^( +)[^\s#]/.exec(line)?.[1]?.length).filter((width) => width !== undefined)
  const indent = widths.length === 0 ? 2 : Math.min(...widths.slice(0, STYLE_LINES_MAX))
  const item = lines.findIndex((line) => /^ *- /.test(line))
  const owner = lines.slice(0, Math.max(item, 0)).findLast((line) => /^ *[^\s#].*:\s*(#.*)?$/.test(line))
  const widthOf = (line: string | undefined): number => /^ */.exec(line ?? '')?.[0].length ?? 0
  return { indent: Math.min(8, Math.max(1, indent)), indentSeq: item < 0 || owner === undefined || widthOf(lines[item]) > widthOf(owner) }
}

/** Reports a missing mapping that a configuration needs. */
export const missing = (file: YamlFile, path: readonly string[], displayName: string): ConfigProblem[] =>
  file.isMapping(path) ? [] : [{ message: `${displayName} needs the section ${path.join('.')}` }]

/** Sections that the agent does not know, at most PROBLEMS_MAX. */
export const unknownSections = (file: YamlFile, known: readonly string[]): string[] =>
  file
    .keys([])
    .filter((name) => !known.includes(name))
    .slice(0, PROBLEMS_MAX)
