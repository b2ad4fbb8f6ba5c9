import type { RecordedSpan } from './recorded-span.ts'

export type ParentState = 'none' | 'present' | 'missing' | 'cyclic'

/** A span in its place. `parent` and `children` are positions in the list of nodes. */
export type SpanNode = {
  readonly span: RecordedSpan
  /** The position of the span in the list that was given. */
  readonly at: number
  readonly parent: number | undefined
  readonly parentState: ParentState
  readonly depth: number
  readonly children: readonly number[]
  readonly descendants: number
}

export type SpanTree = { readonly nodes: readonly SpanNode[]; readonly duplicates: number }

/**
 * Puts spans in order: each before its children, siblings by their start. Spans that lack the same parent lie together. A span is left out if
 * another one has the same id, name, service and times: senders repeat requests.
 */
export function treeOf(given: readonly RecordedSpan[]): SpanTree {
  const spans = withoutCopies(given)
  const owners = ownersOf(spans)
  const parents = spans.map((_span, index) => parentOf(spans, index, owners))
  const states = spans.map(({ span }, index): ParentState => {
    if (parents[index] !== undefined) return 'present'
    return span.parentId ? 'missing' : 'none'
  })
  breakCycles(spans, parents, states)
  const children = spans.map((): number[] => [])
  const tops: number[] = []
  for (const [index, parent] of parents.entries()) (parent === undefined ? tops : children[parent])?.push(index)
  for (const list of children) list.sort((one, other) => byStart(spans, one, other))
  return {
    nodes: inOrder(spans, { parents, states, children, tops: sortTops(spans, states, tops) }),
    duplicates: given.length - spans.length,
  }
}

type Placed = { readonly span: RecordedSpan; readonly at: number }

function withoutCopies(given: readonly RecordedSpan[]): Placed[] {
  const seen = new Set<string>()
  return given.flatMap((span, at) => {
    const { id, parentId, service, name, startNano, durationNano } = span
    const same = JSON.stringify([id, parentId, service, name, String(startNano), durationNano])
    if (id !== '' && seen.has(same)) return []
    seen.add(same)
    return [{ span, at }]
  })
}

/** The spans of each id. Some senders give a client and its server one id. */
function ownersOf(spans: readonly Placed[]): Owners {
  const owners = new Map<string, number[]>()
  for (const [index, { span }] of spans.entries()) {
    const known = owners.get(span.id)
    if (known) known.push(index)
    else owners.set(span.id, [index])
  }
  for (const list of owners.values()) list.sort((one, other) => byStart(spans, one, other))
  return owners
}

type Owners = ReadonlyMap<string, readonly number[]>

/** The parent of a span. Where several spans have its id, the one of the same service, otherwise the innermost. */
function parentOf(spans: readonly Placed[], index: number, owners: Owners): number | undefined {
  const { id, parentId, service } = (spans[index] as Placed).span
  const client = (owners.get(id) ?? []).find((other) => isClientOf(spans[other]?.span, spans[index]?.span))
  if (client !== undefined) return client
  if (!parentId) return undefined
  const found = (owners.get(parentId) ?? []).filter((owner) => owner !== index)
  return found.findLast((owner) => spans[owner]?.span.service === service) ?? found.at(-1)
}

type Twin = Pick<RecordedSpan, 'service' | 'kind' | 'parentId'>

/** Whether a span is the client of a server that has the same id. */
export const isClientOf = (one: Twin | undefined, server: Twin | undefined): boolean =>
  one?.kind === 'SPAN_KIND_CLIENT' &&
  server?.kind === 'SPAN_KIND_SERVER' &&
  one.service !== server.service &&
  one.parentId === server.parentId

/** Cuts each circle of parents at its earliest span. */
function breakCycles(spans: readonly Placed[], parents: (number | undefined)[], states: ParentState[]): void {
  // 0: not visited, 1: on the way, 2: leads to a root
  const visited = new Uint8Array(spans.length)
  for (const start of spans.keys()) {
    const way: number[] = []
    let at: number | undefined = start
    while (at !== undefined && visited[at] === 0) {
      visited[at] = 1
      way.push(at)
      at = parents[at]
    }
    if (at !== undefined && visited[at] === 1) {
      const first = way.slice(way.indexOf(at)).reduce((one, other) => (byStart(spans, one, other) <= 0 ? one : other))
      parents[first] = undefined
      states[first] = 'cyclic'
    }
    for (const index of way) visited[index] = 2
  }
}

function byStart(spans: readonly Placed[], one: number, other: number): number {
  const [a, b] = [spans[one]?.span, spans[other]?.span]
  if (!a || !b) return 0
  if (a.startNano !== b.startNano) return a.startNano < b.startNano ? -1 : 1
  return b.durationNano - a.durationNano || one - other
}

/** Spans without a parent by their start; those that miss the same one follow the first of them. */
function sortTops(spans: readonly Placed[], states: readonly ParentState[], tops: readonly number[]): readonly number[] {
  const sorted = [...tops].sort((one, other) => byStart(spans, one, other))
  const groups = Map.groupBy(sorted, (index) => (states[index] === 'missing' ? `missing ${spans[index]?.span.parentId}` : index))
  return [...groups.values()].flat()
}

type Places = {
  readonly parents: readonly (number | undefined)[]
  readonly states: readonly ParentState[]
  readonly children: readonly (readonly number[])[]
  readonly tops: readonly number[]
}

/** Lists the spans depth first. No recursion: a trace may be as deep as it has spans. */
function inOrder(spans: readonly Placed[], { parents, states, children, tops }: Places): readonly SpanNode[] {
  const order: number[] = []
  const depths: number[] = []
  const waiting = [...tops].reverse()
  while (waiting.length > 0) {
    const index = waiting.pop() as number
    const parent = parents[index]
    depths[index] = parent === undefined ? 0 : (depths[parent] ?? 0) + 1
    order.push(index)
    for (const child of (children[index] ?? []).toReversed()) waiting.push(child)
  }
  const places = new Map(order.map((index, place) => [index, place]))
  const descendants = new Array<number>(spans.length).fill(0)
  for (const index of order.toReversed()) {
    const parent = parents[index]
    if (parent !== undefined) descendants[parent] = (descendants[parent] ?? 0) + 1 + (descendants[index] ?? 0)
  }
  return order.map((index) => {
    const { span, at } = spans[index] as Placed
    const parent = parents[index]
    return {
      span,
      at,
      parent: parent === undefined ? undefined : places.get(parent),
      parentState: states[index] ?? 'none',
      depth: depths[index] ?? 0,
      children: (children[index] ?? []).map((child) => places.get(child) as number),
      descendants: descendants[index] ?? 0,
    }
  })
}
