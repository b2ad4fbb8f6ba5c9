import { Link, useSearch } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { useScrollToCurrent } from '../../parts/scroll-to-current.ts'
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
import { Users } from './users.tsx'
import { You } from './you.tsx'

const parts = {
  you: { name: 'You', Part: You },
  users: { name: 'Users', Part: Users },
  groups: { name: 'Groups', Part: Groups },
  keys: { name: 'API keys', Part: Keys },
  roles: { name: 'Roles', Part: Roles },
  rules: { name: 'Access rules', Part: AccessRules },
  integrations: { name: 'Integrations', Part: Integrations },
  limits: { name: 'Limits', Part: Limits },
  encryption: { name: 'Encryption keys', Part: EncryptionKeys },
  organisation: { name: 'Organization', Part: OrganizationSettings },
  audit: { name: 'Audit trail', Part: Audit },
} satisfies Record<SettingsPart, { name: string; Part: ComponentType }>

/** SettingsPage shows the tabs of the settings. */
export function SettingsPage() {
  const { part = 'users' } = useSearch({ from: '/inside/settings' })
  const { name, Part } = parts[part]
  const row = useScrollToCurrent(part)
  return (
    <div className="flex h-full max-md:flex-col">
      <nav
        ref={row}
        aria-label="Settings"
        className="flex shrink-0 gap-0.5 overflow-auto border-line bg-panel p-2 max-md:border-b md:w-44 md:flex-col md:border-r"
      >
        {settingsParts.map((key) => (
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
        <div className="flex max-w-reading flex-col gap-4 p-4 [&>[role=alert]]:m-0">
          <h1 className="font-semibold text-lg">{name}</h1>
          <Part />
        </div>
      </div>
    </div>
  )
}
