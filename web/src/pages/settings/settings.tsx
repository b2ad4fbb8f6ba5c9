import type { Permission } from '@dendro/api'
import { Link, useSearch } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { pageContent, panelColumns } from '../../parts/shell/page.tsx'
import { useLacks } from '../../parts/shell/permitted.tsx'
import { useScrollToCurrent } from '../../parts/shell/scroll-to-current.ts'
import { AccessRules } from './access-rules.tsx'
import { Audit } from './audit.tsx'
import { EncryptionKeys } from './encryption-keys.tsx'
import { Groups } from './groups.tsx'
import { Integrations } from './integrations.tsx'
import { Keys } from './keys.tsx'
import { Limits } from './limits.tsx'
import { OrganizationSettings } from './organization.tsx'
import { type SettingsPart, settingsParts } from './params.ts'
import { Roles } from './roles.tsx'
import { SignOn } from './sign-on.tsx'
import { Users } from './users.tsx'
import { You } from './you.tsx'

type SettingsTab = {
  name: string
  Part: ComponentType
  /** needs is the permission to see it. */
  needs?: Permission
}

const parts: Record<SettingsPart, SettingsTab> = {
  you: { name: 'You', Part: You },
  users: { name: 'Users', Part: Users, needs: 'users_read' },
  groups: { name: 'Groups', Part: Groups, needs: 'groups_read' },
  keys: { name: 'API keys', Part: Keys, needs: 'api_keys_read' },
  roles: { name: 'Roles', Part: Roles, needs: 'roles_read' },
  rules: { name: 'Access rules', Part: AccessRules, needs: 'policies_read' },
  'sign-on': { name: 'Single sign-on', Part: SignOn, needs: 'access_read' },
  integrations: { name: 'Integrations', Part: Integrations, needs: 'integrations_read' },
  limits: { name: 'Limits', Part: Limits, needs: 'limits_read' },
  encryption: { name: 'Encryption keys', Part: EncryptionKeys, needs: 'encryption_keys_read' },
  organisation: { name: 'Organization', Part: OrganizationSettings, needs: 'customer_read' },
  audit: { name: 'Audit trail', Part: Audit, needs: 'audit_read' },
}

/** SettingsPage shows the tabs of the settings. */
export function SettingsPage() {
  const lacks = useLacks()
  const isShown = (key: SettingsPart) => parts[key].needs === undefined || !lacks(parts[key].needs)
  const { part = isShown('users') ? 'users' : 'you' } = useSearch({ from: '/inside/settings' })
  const { name, Part } = parts[part]
  const row = useScrollToCurrent(part)
  return (
    <div className="flex h-full max-md:flex-col">
      <nav
        ref={row}
        aria-label="Settings"
        className="flex shrink-0 gap-0.5 overflow-auto border-line bg-panel p-2 max-md:border-b md:w-44 md:flex-col md:border-r"
      >
        {settingsParts.filter(isShown).map((key) => (
          <Link
            key={key}
            to="/settings"
            search={{ part: key }}
            aria-current={key === part ? 'page' : undefined}
            className="whitespace-nowrap rounded px-2 py-1 text-soft hover:text-ink aria-[current=page]:bg-tint aria-[current=page]:text-ink"
          >
            {parts[key].name}
          </Link>
        ))}
      </nav>
      <div className="min-h-0 min-w-0 flex-1 overflow-auto">
        <div className={`${pageContent} ${panelColumns}`}>
          <h1 className="flex min-h-8 items-center font-semibold text-lg">{name}</h1>
          <Part />
        </div>
      </div>
    </div>
  )
}
