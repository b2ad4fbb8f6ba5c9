import { Graph, layout } from '@dagrejs/dagre'
import type { CallList } from '@dendro/api'

export type Calls = CallList['calls'][number]
type Kind = Calls['kind']

/** A service, or a peer without spans of its own, and its place in the map in pixels. */
export type GraphNode = {
  readonly key: string
  readonly name: string
  readonly kind: Kind
  /** The number of its spans; undefined for a peer. */
  readonly spans: number | undefined
  readonly errors: number
  readonly x: number
  readonly y: number
}

export type GraphEdge = { readonly calls: Calls; readonly fromKey: string; readonly toKey: string; readonly points: readonly Point[] }
type Point = { readonly x: number; readonly y: number }

export type ServiceGraph = {
  readonly width: number
  readonly height: number
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  /** Where calls begin, as far as they do not go in circles. */
  readonly first: GraphNode | undefined
}

export const NODE_WIDTH = 168
export const NODE_HEIGHT = 44
const MARGIN = 12
/** Services without calls lie below the others, in rows. */
const COLUMN = NODE_WIDTH + MARGIN
const ROW = NODE_HEIGHT + MARGIN
/** The services of a row: on a narrow screen as many as fit. */
const COLUMNS = { right: 5, down: 2 }

/** `only` are the calls of one service. `direction` is where calls go as far as they can: downwards on a narrow screen. */
type MapOptions = { readonly only?: string | undefined; readonly direction?: keyof typeof COLUMNS }

/** Places services, so that each lies before those that it calls. */
export function serviceGraph(
  { services, calls }: Pick<CallList, 'services' | 'calls'>,
  { only, direction = 'right' }: MapOptions = {},
): ServiceGraph {
  const graph = new Graph({ multigraph: true })
  const isDown = direction === 'down'
  graph.setGraph({
    rankdir: isDown ? 'TB' : 'LR',
    nodesep: isDown ? MARGIN : 18,
    ranksep: isDown ? 40 : 72,
    marginx: MARGIN,
    marginy: MARGIN,
  })
  graph.setDefaultEdgeLabel(() => ({}))
  const known = new Map<string, Omit<GraphNode, 'x' | 'y'>>()
  const add = (name: string, kind: Kind): string => {
    const key = `${kind} ${name}`
    if (known.has(key)) return key
    const own = kind === 'service' ? services.find(({ service }) => service === name) : undefined
    known.set(key, { key, name, kind, spans: own?.spans, errors: own?.errors ?? 0 })
    graph.setNode(key, { width: NODE_WIDTH, height: NODE_HEIGHT })
    return key
  }
  const ends = calls.map((one) => ({ calls: one, fromKey: add(one.from, 'service'), toKey: add(one.to, one.kind) }))
  for (const { fromKey, toKey } of ends) graph.setEdge(fromKey, toKey)
  layout(graph)
  const { width = 0, height = 0 } = ends.length === 0 ? {} : graph.graph()
  const nodes = [...known.values()].map((node): GraphNode => {
    const { x = 0, y = 0 } = graph.node(node.key)
    return { ...node, x, y }
  })
  const rankOf = ({ x, y }: GraphNode): number => (isDown ? y : x)
  const first = nodes.reduce<GraphNode | undefined>((least, node) => (!least || rankOf(node) < rankOf(least) ? node : least), undefined)
  const alone = services.filter(({ service }) => !known.has(`service ${service}`) && (only === undefined || only === service))
  const columns = Math.max(COLUMNS[direction], Math.floor((width - MARGIN) / COLUMN))
  const rows = Math.ceil(alone.length / columns)
  return {
    width: Math.max(width, MARGIN + Math.min(alone.length, columns) * COLUMN),
    height: Math.max(height, MARGIN) + rows * ROW,
    nodes: [
      ...nodes,
      ...alone.map(
        ({ service, spans, errors }, at): GraphNode => ({
          key: `service ${service}`,
          name: service,
          kind: 'service',
          spans,
          errors,
          x: MARGIN + (at % columns) * COLUMN + NODE_WIDTH / 2,
          y: Math.max(height, MARGIN) + Math.floor(at / columns) * ROW + NODE_HEIGHT / 2,
        }),
      ),
    ],
    first,
    edges: ends.map((end) => ({ ...end, points: graph.edge(end.fromKey, end.toKey)?.points ?? [] })),
  }
}

/** A smooth line through the points, as a path of SVG. */
export function pathThrough(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (!first) return ''
  const at = ({ x, y }: Point): string => `${Math.round(x)} ${Math.round(y)}`
  const last = rest.at(-1)
  const curves = rest.slice(0, -1).map((point, index) => {
    const next = rest[index + 1] ?? point
    return `Q ${at(point)} ${at({ x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 })}`
  })
  return [`M ${at(first)}`, ...curves, ...(last ? [`L ${at(last)}`] : [])].join(' ')
}
