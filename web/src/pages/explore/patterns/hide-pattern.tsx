import type { Event } from '@dendro/api'
import { useMutation } from '@tanstack/react-query'
import { useClient } from '../../../parts/shell/client.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { Button } from '../../../ui/button.tsx'
import type { ValueActions } from '../events/detail/value-menu.tsx'

/** Excludes all events with the pattern of this one. The pattern is loaded on click. */
export function HidePattern({ event, actions }: { event: Event; actions: ValueActions }) {
  const client = useClient()
  const { service_id, timestamp, sequence } = event.metadata
  const hide = useMutation({
    mutationFn: async () => {
      const position = { from_ts: timestamp, to_ts: timestamp + 1, from_sequence: String(sequence), most_recent_first: false }
      const response = await client.search.run({ body: { from: [service_id], ...position, select: ['@pattern'], limit: 1 } })
      const pattern = response.result[0]?.['@pattern']
      return typeof pattern === 'string' && pattern !== '' ? pattern : undefined
    },
    onSuccess: (pattern) => pattern !== undefined && actions.exclude('@pattern', pattern),
  })
  return (
    <>
      <Button
        size="small"
        disabled={hide.isPending}
        title="Exclude all events with the same pattern; remove the condition to show them again"
        onClick={() => hide.mutate()}
      >
        Hide similar events
      </Button>
      {hide.isSuccess && hide.data === undefined && (
        <span role="status" className="self-center text-soft">
          This event has no message, so it has no pattern.
        </span>
      )}
      {hide.error && <FailureNote thrown={hide.error} />}
    </>
  )
}
