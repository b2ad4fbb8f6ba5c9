import { useQuery } from '@tanstack/react-query'
import { ago } from '../../../parts/chart/numbers.ts'
import { Loaded } from '../../../parts/records/records.tsx'
import { useCallerNames } from '../../../parts/shell/callers.ts'
import { useClient } from '../../../parts/shell/client.ts'
import { actionText } from './action-text.ts'
import { INGEST_RULES } from './rules.ts'

/** The versions of a rule, newest first. */
export function RuleVersions({ id }: { id: string }) {
  const client = useClient()
  const versions = useQuery({
    queryKey: [...INGEST_RULES, id, 'versions'],
    queryFn: ({ signal }) => client.ingestRules.versions({ params: { ruleId: id }, signal }),
  })
  const callerName = useCallerNames((versions.data?.versions ?? []).flatMap(({ metadata }) => metadata.modified_by?.id ?? []))
  return (
    <Loaded of={versions}>
      {(found) => (
        <ol aria-label="Versions" className="p-3 text-sm">
          {found.versions.map(({ version, name, enabled, where, action, metadata }) => (
            <li key={version} className="flex flex-wrap gap-x-3 py-0.5">
              <span className="w-20 text-soft tabular-nums">Version {version}</span>
              <span className="text-soft">
                {ago(metadata.modified_at ?? metadata.created_at ?? Date.now(), Date.now())}
                {metadata.modified_by && ` by ${callerName(metadata.modified_by.id)}`}
              </span>
              <span>
                {name}: {actionText(action)}
                {!enabled && ', disabled'}
              </span>
              {where && <code className="wrap-anywhere font-mono text-soft text-xs">{where}</code>}
            </li>
          ))}
        </ol>
      )}
    </Loaded>
  )
}
