import type { ReactNode } from 'react'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { nameOf, type Zone } from '../../../parts/time/time-range.ts'
import type { TimeSpan } from '../time/time-span.ts'

type OldResultProps = {
  of: { error: unknown; oldRange: TimeSpan | undefined; refetch(): unknown }
  noun: string
  zone: Zone
  className?: string
  children: ReactNode
}

/** Marks a result that is older than the query, with the range it belongs to. */
export const OldResult = ({ of: { error, oldRange, refetch }, noun, zone, className = '', children }: OldResultProps) => (
  <div className={`flex min-h-0 min-w-0 flex-1 flex-col ${oldRange ? 'bg-sunk' : ''} ${className}`}>
    {oldRange && (
      <FailureNote
        thrown={error}
        again={() => refetch()}
        note={
          <>
            The {noun} below are old: they belong to{' '}
            <strong className="font-medium tabular-nums">{nameOf(wholeSeconds(oldRange), zone)}</strong>.
          </>
        }
      />
    )}
    {children}
  </div>
)

const wholeSeconds = ({ fromMs, toMs }: TimeSpan): TimeSpan => ({
  fromMs: Math.floor(fromMs / 1_000) * 1_000,
  toMs: Math.floor(toMs / 1_000) * 1_000,
})
