import type { Monitor } from '@dendro/api'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Button } from '../../ui/button.tsx'

const transitions = [
  ['ALERT', 'Alert'],
  ['WARN', 'Warning'],
  ['NO_DATA', 'No data'],
  ['ALERT_RECOVERY', 'Recovery'],
] as const
type Transition = (typeof transitions)[number][0]

/** The form that sends test notifications; the results appear in the list of notifications. */
export function TestNotification({ monitor }: { monitor: Monitor }) {
  const client = useClient()
  const queries = useQueryClient()
  const [chosen, setChosen] = useState<readonly Transition[]>(['ALERT', 'ALERT_RECOVERY'])
  const { id, name, description, type, comparison_operator, threshold, warning_threshold, window, actions, formulas } = monitor
  const test = useMutation({
    mutationFn: () =>
      client.notifications.sendTest({
        body: {
          monitor_id: id,
          name,
          ...(description ? { description } : {}),
          monitor_type: type,
          comparison_operator,
          threshold,
          ...(warning_threshold === undefined ? {} : { warning_threshold }),
          window,
          actions,
          queries: monitor.queries,
          ...(formulas.length > 0 ? { formulas } : {}),
          ...(monitor.compare_to ? { compare_to: monitor.compare_to } : {}),
          ...(monitor.change_type ? { change_type: monitor.change_type } : {}),
          ...(monitor.evaluation_window ? { evaluation_window: monitor.evaluation_window } : {}),
          state_transitions: [...chosen],
        },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['monitors', id, 'sent'] }),
  })
  return (
    <div className="flex w-64 max-w-full flex-col gap-2">
      <p>Send test notifications to all recipients, even while the monitor is muted:</p>
      {transitions.map(([transition, text]) => (
        <label key={transition} className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={chosen.includes(transition)}
            onChange={() => setChosen(transitions.map(([one]) => one).filter((one) => chosen.includes(one) !== (one === transition)))}
          />
          {text}
        </label>
      ))}
      <Button variant="main" disabled={chosen.length === 0 || test.isPending} onClick={() => test.mutate()}>
        {test.isPending ? 'Sending…' : 'Send'}
      </Button>
      {test.isSuccess && <p role="status">Sent. The result is in the notifications below.</p>}
      {test.error && <FailureNote thrown={test.error} />}
    </div>
  )
}
