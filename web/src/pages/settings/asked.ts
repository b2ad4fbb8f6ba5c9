export const settingsParts = ['users', 'groups', 'keys', 'roles', 'integrations', 'limits', 'organisation'] as const
export type SettingsPart = (typeof settingsParts)[number]

/** readAsked takes an address as it comes. */
export function readAsked({ part }: Record<string, unknown>): { part?: SettingsPart } {
  const known = settingsParts.find((one) => one === part)
  return known ? { part: known } : {}
}
