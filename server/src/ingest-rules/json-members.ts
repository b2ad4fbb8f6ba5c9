import { endOfBrackets, endOfText, endOfWord, keyName, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from '../lines/reference/walk.ts'

/** A change of the members of a JSON line. Bytes of members that stay are not changed. */
type Member = { readonly start: number; readonly name: string; readonly valueStart: number; readonly valueEnd: number }

const COMMA = 0x2c
const COLON = 0x3a
const CLOSE_OBJECT = 0x7d
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d])

function afterBlanks(line: Uint8Array, start: number): number {
  let at = start
  while (BLANKS.has(line[at])) at += 1
  return at
}

/** The members of the object that begins at a position, and its end; undefined where the line is not JSON. */
function membersAt(line: Uint8Array, start: number): { members: readonly Member[]; end: number } | undefined {
  const members: Member[] = []
  let at = afterBlanks(line, start + 1)
  if (line[at] === CLOSE_OBJECT) return { members, end: at + 1 }
  for (;;) {
    if (line[at] !== QUOTE) return undefined
    const nameEnd = endOfText(line, at + 1, line.length)
    if (nameEnd < 0) return undefined
    const colon = afterBlanks(line, nameEnd + 1)
    if (line[colon] !== COLON) return undefined
    const valueStart = afterBlanks(line, colon + 1)
    const valueEnd = endOfValue(line, valueStart)
    if (valueEnd <= valueStart) return undefined
    members.push({ start: at, name: keyName(line.subarray(at + 1, nameEnd)), valueStart, valueEnd })
    const mark = afterBlanks(line, valueEnd)
    if (line[mark] === CLOSE_OBJECT) return { members, end: mark + 1 }
    if (line[mark] !== COMMA) return undefined
    at = afterBlanks(line, mark + 1)
  }
}

function endOfValue(line: Uint8Array, start: number): number {
  const first = line[start]
  if (first === QUOTE) return endOfText(line, start + 1, line.length) + 1
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return endOfBrackets(line, start, line.length)
  return endOfWord(line, start, line.length)
}

type JsonObject = { readonly start: number; readonly members: readonly Member[]; readonly end: number }

/** The members of a line that is one object of JSON. */
function wholeLine(line: Uint8Array): JsonObject | undefined {
  const start = afterBlanks(line, 0)
  const found = line[start] === OPEN_OBJECT ? membersAt(line, start) : undefined
  return found && afterBlanks(line, found.end) === line.length ? { start, ...found } : undefined
}

/** Adds members at the end of a line; undefined when the line is not an object of JSON. Values are JSON. */
export function withMembers(line: Uint8Array, members: readonly (readonly [name: string, json: string])[]): Uint8Array | undefined {
  const found = wholeLine(line)
  if (!found) return undefined
  const added = members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')
  const end = found.end - 1
  return Buffer.concat([line.subarray(0, end), Buffer.from(found.members.length === 0 ? added : `,${added}`), line.subarray(end)])
}

/** A line without some members, and the values in JSON of those that it had. */
export type TakenMembers = { readonly line: Uint8Array; readonly values: readonly string[] }

/** Takes the members at a path (`a.b` is `b` in `a`, or a member of that name) out of a line; undefined when it has none. */
export function takeMembers(line: Uint8Array, path: string): TakenMembers | undefined {
  const found = wholeLine(line)
  if (!found) return undefined
  const values: string[] = []
  const bytes = takenFrom(line, found, path, values)
  if (!bytes) return undefined
  return { line: Buffer.concat([line.subarray(0, found.start), bytes, line.subarray(found.end)]), values }
}

function takenFrom(line: Uint8Array, { start, members, end }: JsonObject, path: string, values: string[]): Buffer | undefined {
  const first = members[0]
  if (!first) return undefined
  const parts: Uint8Array[] = []
  let isChanged = false
  let gap = line.subarray(start, first.start)
  members.forEach((member, index) => {
    const { name, valueStart, valueEnd } = member
    if (name === path) {
      values.push(Buffer.from(line.buffer, line.byteOffset + valueStart, valueEnd - valueStart).toString('utf8'))
      isChanged = true
      return
    }
    const inner = path.startsWith(`${name}.`) && line[valueStart] === OPEN_OBJECT ? membersAt(line, valueStart) : undefined
    const rest = inner && takenFrom(line, { start: valueStart, ...inner }, path.slice(name.length + 1), values)
    if (rest) isChanged = true
    // The comma and the blanks in front of a member stay with it, except for the first one that is kept.
    if (parts.length > 0) gap = line.subarray(members[index - 1]?.valueEnd, member.start)
    parts.push(gap, line.subarray(member.start, valueStart), rest ?? line.subarray(valueStart, valueEnd))
  })
  if (!isChanged) return undefined
  return parts.length === 0 ? Buffer.from('{}') : Buffer.concat([...parts, line.subarray(members.at(-1)?.valueEnd, end)])
}
