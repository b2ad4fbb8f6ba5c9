export const settingsParts = [
  'you',
  'users',
  'groups',
  'keys',
  'roles',
  'rules',
  'integrations',
  'limits',
  'encryption',
  'organisation',
  'audit',
] as const
export type SettingsPart = (typeof settingsParts)[number]

/** SettingsParams are the selected tab, and whether the password has just been changed. */
type SettingsParams = { part?: SettingsPart; changed?: boolean }

/** readSettingsParams drops invalid values. */
export function readSettingsParams({ part, changed }: Record<string, unknown>): SettingsParams {
  const known = settingsParts.find((one) => one === part)
  return { ...(known ? { part: known } : {}), ...(changed === true ? { changed } : {}) }
}
