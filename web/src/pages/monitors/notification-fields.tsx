import { TargetFields } from '../../parts/records/target-fields.tsx'
import { Panel } from '../../parts/shell/page.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import type { MonitorFormState } from './draft.ts'

type NotificationFieldsProps = { draft: MonitorFormState; onChange(change: Partial<MonitorFormState>): void }

/** NotificationFields edit the recipients and the content of notifications. */
export function NotificationFields({ draft, onChange }: NotificationFieldsProps) {
  const { targets, notifyOnce, hasReport, reportText } = draft
  return (
    <Panel title="Notifications">
      <div className="flex flex-col gap-3 p-3">
        <TargetFields targets={targets} onChange={(next) => onChange({ targets: [...next] })} />
        <label className="flex items-center gap-2">
          <input type="checkbox" checked={notifyOnce} onChange={(event) => onChange({ notifyOnce: event.target.checked })} />
          One notification for all groups: when the first alerts, and when the last recovers
        </label>
        <label className="flex items-center gap-2">
          <input type="checkbox" checked={hasReport} onChange={(event) => onChange({ hasReport: event.target.checked })} />
          Include a report of what changed
        </label>
        {hasReport && (
          <Field name="Instructions for the report">
            <TextArea value={reportText} maxLength={4_000} onChange={(event) => onChange({ reportText: event.target.value })} />
          </Field>
        )}
      </div>
    </Panel>
  )
}
