import { useMe } from '../shell/me.ts'
import { useIntegrations } from './target-fields.tsx'
import { type FormTarget, firstTargets } from './targets.ts'

/** The recipients of a new monitor; undefined while they are unknown. */
export function useFirstTargets(): FormTarget[] | undefined {
  const me = useMe()
  const integrations = useIntegrations()
  // A failed request is sent again whenever a part of the form mounts, and is pending again then: it has been fetched all the same.
  if (!me.isFetched) return undefined
  const { can_send_mail = true, user } = me.data ?? {}
  if (!can_send_mail && !integrations.isFetched) return undefined
  return firstTargets(can_send_mail, user?.email, integrations.data ?? [])
}
