/** Asked is what of the page stands in the address: the downtime that is changed, or `new`, which may begin as another one. */
export type DowntimeParams = { edit?: string; of?: string }

export function readDowntimeParams({ edit, of }: Record<string, unknown>): DowntimeParams {
  return { ...(typeof edit === 'string' ? { edit } : {}), ...(typeof of === 'string' ? { of } : {}) }
}
