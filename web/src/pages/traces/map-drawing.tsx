import { durationText } from '@dendro/language/nanoseconds'
import { useEffect, useRef } from 'react'
import { compact, count, quantity, share } from '../../parts/chart/numbers.ts'
import { type Calls, type GraphEdge, type GraphNode, NODE_HEIGHT, NODE_WIDTH, pathThrough, type ServiceGraph } from './service-graph.ts'

type MapDrawingProps = { graph: ServiceGraph; selected: string | undefined; onSelect(service: string): void }

const kinds = { service: '', database: 'database', queue: 'queue', peer: 'peer' } as const

/** The map of services. Its numbers are in the table below it as well, so that a reader of the screen takes that. */
export function MapDrawing({ graph, selected, onSelect }: MapDrawingProps) {
  const section = useRef<HTMLElement>(null)
  useEffect(() => {
    const { current: box } = section
    const at = graph.nodes.find(({ kind, name }) => kind === 'service' && name === selected) ?? graph.first
    if (box && at) box.scrollTo(at.x - box.clientWidth / 2, at.y - box.clientHeight / 2)
  }, [graph, selected])
  const most = graph.edges.reduce((max, { calls }) => Math.max(max, calls.calls), 1)
  return (
    <section ref={section} aria-label="Service map" className="max-h-[60vh] overflow-auto rounded-md border border-line bg-panel">
      <div className="relative mx-auto" style={{ width: graph.width, height: graph.height }}>
        <svg aria-hidden width={graph.width} height={graph.height} className="absolute inset-0">
          <defs>
            <marker
              id="call-end"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerUnits="userSpaceOnUse"
              markerWidth="8"
              markerHeight="8"
              orient="auto"
            >
              <path d="M 0 0 L 8 4 L 0 8 z" className="fill-soft" />
            </marker>
          </defs>
          {graph.edges.map((edge) => (
            <CallLine key={`${edge.fromKey} ${edge.toKey}`} edge={edge} most={most} />
          ))}
        </svg>
        {graph.nodes.map((node) => (
          <ServiceBox key={node.key} node={node} isSelected={node.kind === 'service' && node.name === selected} onSelect={onSelect} />
        ))}
      </div>
    </section>
  )
}

function CallLine({ edge: { calls, points }, most }: { edge: GraphEdge; most: number }) {
  const middle = points[Math.floor(points.length / 2)]
  const width = 1 + 3 * (Math.log1p(calls.calls) / Math.log1p(most))
  return (
    <g>
      <title>{titleOf(calls)}</title>
      <path
        d={pathThrough(points)}
        fill="none"
        strokeWidth={width}
        markerEnd="url(#call-end)"
        className={calls.errors > 0 ? 'stroke-bar-error' : 'stroke-bar-info'}
      />
      {middle && (
        <text
          x={middle.x}
          y={middle.y - 4}
          textAnchor="middle"
          className="fill-soft stroke-panel text-row"
          strokeWidth="3"
          paintOrder="stroke"
        >
          {durationText(calls.p95_nano)}
        </text>
      )}
    </g>
  )
}

const titleOf = ({ from, to, calls, errors, p95_nano }: Calls): string =>
  `${nameOf(from)} calls ${nameOf(to)}: ${quantity(calls, 'call')}, ${share(errors, calls)} failed, p95 ${durationText(p95_nano)}`

const nameOf = (service: string): string => (service === '' ? 'no service' : service)

function ServiceBox({ node, isSelected, onSelect }: { node: GraphNode; isSelected: boolean; onSelect(service: string): void }) {
  const { name, kind, spans, errors, x, y } = node
  const style = { left: x - NODE_WIDTH / 2, top: y - NODE_HEIGHT / 2, width: NODE_WIDTH, height: NODE_HEIGHT }
  const boxClass = `absolute flex flex-col justify-center rounded-md border px-2 text-left ${
    isSelected ? 'border-accent bg-tint' : errors > 0 ? 'border-bar-error bg-ground' : 'border-line bg-ground'
  }`
  const texts = (
    <>
      <span className="w-full truncate font-medium text-sm">{nameOf(name)}</span>
      <span className="w-full truncate text-row text-soft tabular-nums">
        {spans === undefined ? kinds[kind] : `${compact(spans)} ${spans === 1 ? 'span' : 'spans'}`}
        {spans !== undefined && errors > 0 && <span className="text-error"> · {share(errors, spans)} failed</span>}
      </span>
    </>
  )
  if (kind !== 'service' || name === '') {
    return (
      <div className={`${boxClass} ${kind === 'service' ? '' : 'border-dashed'}`} style={style} title={nameOf(name)}>
        {texts}
      </div>
    )
  }
  return (
    <button
      type="button"
      aria-pressed={isSelected}
      className={`${boxClass} hover:border-soft`}
      style={style}
      title={`${name}: ${count(spans ?? 0)} spans, ${count(errors)} failed`}
      onClick={() => onSelect(name)}
    >
      {texts}
    </button>
  )
}
