import type { Event } from '@dendro/api'
import { useMutation } from '@tanstack/react-query'
import { useClient } from '../../../parts/client.ts'
import { FailureNote } from '../../../parts/failure.tsx'
import { Button } from '../../../ui/button.tsx'
import type { ValueActions } from '../events/value-menu.tsx'

/** HidePattern leaves out every event that says the same as this one but for what varies. Which pattern that is, the service is asked only then. */
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
        title="Leave out this line and all that say the same with other values; the condition above brings them back"
        onClick={() => hide.mutate()}
      >
        Hide lines like this
      </Button>
      {hide.isSuccess && hide.data === undefined && (
        <span role="status" className="self-center text-soft">
          This event has no message, and so no pattern.
        </span>
      )}
      {hide.error && <FailureNote thrown={hide.error} />}
    </>
  )
}
