import type { Trace } from '@dendro/api'
import type { ShownPart } from './shown-part.ts'

/** What every drawing of a trace is given. */
export type DrawingProps = {
  trace: Trace
  part: ShownPart
  colors: ReadonlyMap<string, string>
  /** The positions of the spans that are searched for; all when undefined. */
  found: ReadonlySet<number> | undefined
  current: number
  onSelect(at: number | undefined): void
  /** Shows a part, or the whole trace. */
  onShow(part: ShownPart | undefined): void
}
