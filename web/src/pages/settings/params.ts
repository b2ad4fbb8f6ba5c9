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

/** Asked is which part is shown, and that the password of whoever looks has just been changed. */
type SettingsParams = { part?: SettingsPart; changed?: boolean }

/** readAsked takes an address as it comes. */
export function readSettingsParams({ part, changed }: Record<string, unknown>): SettingsParams {
  const known = settingsParts.find((one) => one === part)
  return { ...(known ? { part: known } : {}), ...(changed === true ? { changed } : {}) }
}
