import { flag, oneOf, readParams, type SearchParamsOf } from '../../parts/shell/search-params.ts'

export const settingsParts = [
  'you',
  'users',
  'groups',
  'keys',
  'roles',
  'rules',
  'sign-on',
  'integrations',
  'limits',
  'encryption',
  'organisation',
  'audit',
] as const
export type SettingsPart = (typeof settingsParts)[number]

/** changed is true just after a change of the password. */
const schema = { part: oneOf(settingsParts), changed: flag }

type SettingsParams = SearchParamsOf<typeof schema>
export const readSettingsParams = (search: Record<string, unknown>): SettingsParams => readParams(schema, search)
