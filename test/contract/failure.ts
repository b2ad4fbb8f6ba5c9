import { STATUS_CODES } from 'node:http'
import { expect } from 'vitest'
import { type Endpoint, type FailureBody, failureCodes, FailureBody as Shape } from '../../api/src/index.ts'
import type { Reply } from '../support/world.ts'

/** Checks that a response is exactly the given failure in the form of the contract, and returns its body. */
export function mustFail(reply: Reply, status: number, by: { endpoint?: Endpoint; counted?: boolean } = {}): FailureBody {
  const body = reply.body as FailureBody
  expect(reply.status, JSON.stringify(reply.body)).toBe(status)
  if (by.endpoint) expect(failureCodes(by.endpoint), `the contract must list ${status} in fails`).toContain(status)
  if (by.counted) mustBeCounted(reply)
  if (by.endpoint?.failure) {
    expect(by.endpoint.failure.parse(body)).toEqual(body)
    expect(reply.headers.get('x-correlation-id')).toMatch(/^[\da-f]{32}$/)
    return body
  }
  expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(Object.keys(body).filter((name) => name !== 'errors')).toEqual(['code', 'type', 'correlation_id', 'details'])
  expect(Shape.parse(body)).toEqual(body)
  expect(body.code).toBe(status)
  expect(body.type).toBe(STATUS_CODES[status])
  expect(body.correlation_id).toMatch(/^[\da-f]{32}$/)
  expect(reply.headers.get('x-correlation-id')).toBe(body.correlation_id)
  expect(body.details.length).toBeGreaterThan(5)
  return body
}

/** Checks the rate limit headers. */
export function mustBeCounted(reply: Reply): void {
  const [limit, remaining, resetS] = ['limit', 'remaining', 'reset'].map((name) => reply.headers.get(`ratelimit-${name}`))
  for (const value of [limit, remaining, resetS]) expect(value).toMatch(/^\d+$/)
  expect(Number(remaining)).toBeLessThanOrEqual(Number(limit))
  expect(Number(resetS)).toBeGreaterThan(0)
}
