import { endpoint } from './endpoint.ts'

const common = { tier: 'X', permission: 'logs_read', absent: 'findings about ingested data are not made yet', fails: [501] } as const

/** insights are here so that whoever looks for them is told; all of it answers 501. */
export const insights = {
  list: endpoint({ method: 'GET', path: '/insights', summary: 'Findings about ingested data', ...common }),
  get: endpoint({ method: 'GET', path: '/insights/{insightId}', summary: 'One finding', ...common }),
}
