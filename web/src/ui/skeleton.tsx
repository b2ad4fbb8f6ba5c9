type SkeletonProps = {
  /** widths of the lines, in percent. */
  widths?: readonly number[]
  className?: string
  lineClass?: string
}

const WIDTHS = [70, 45, 60, 35]

/** Takes the place of lines while they load, so that nothing jumps when they come. It is hidden while loading is fast. */
export const Skeleton = ({ widths = WIDTHS, className = '', lineClass = 'my-3 h-4' }: SkeletonProps) => (
  <div role="status" className={`late ${className}`}>
    <span className="sr-only">Loading…</span>
    {widths.map((width, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the lines never change
      <span key={at} className={`block rounded bg-line/60 ${lineClass}`} style={{ width: `${width}%` }} />
    ))}
  </div>
)
