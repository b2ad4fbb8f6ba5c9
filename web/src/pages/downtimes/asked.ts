/** Asked is what of the page stands in the address: the downtime that is changed, or `new`, which may begin as another one. */
export type Asked = { edit?: string; of?: string }

export function readAsked({ edit, of }: Record<string, unknown>): Asked {
  return { ...(typeof edit === 'string' ? { edit } : {}), ...(typeof of === 'string' ? { of } : {}) }
}
