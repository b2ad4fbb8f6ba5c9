/** DowntimeParams select the downtime to edit, or `new`, optionally copied from another. */
export type DowntimeParams = { edit?: string; of?: string }

export function readDowntimeParams({ edit, of }: Record<string, unknown>): DowntimeParams {
  return { ...(typeof edit === 'string' ? { edit } : {}), ...(typeof of === 'string' ? { of } : {}) }
}
