import type { ApiKey } from '@dendro/api'
import { useState } from 'react'
import { ago } from '../../parts/chart/numbers.ts'
import { Confirm } from '../../parts/records/confirm.tsx'
import { Form, FormField } from '../../parts/records/form.tsx'
import { useSave } from '../../parts/records/save.ts'
import { clockOf } from '../../parts/time/time-range.ts'
import { Input, Select } from '../../ui/field.tsx'

const DAY_S = 86_400
export const lifetimes: readonly (readonly [string, string])[] = [
  ['0', 'never'],
  [String(DAY_S), 'in a day'],
  [String(30 * DAY_S), 'in 30 days'],
  [String(90 * DAY_S), 'in 90 days'],
  [String(365 * DAY_S), 'in a year'],
]

/** LastUsed is the last request of the key of any kind. */
export function LastUsed({ apiKey: { last_used_at: usedMs, last_used_address: address } }: { apiKey: ApiKey }) {
  if (usedMs === undefined) return <span className="text-soft">never</span>
  const { day, clock } = clockOf(usedMs, 'utc')
  return (
    <span title={`${day} ${clock.slice(0, 5)} UTC`}>
      {ago(usedMs, Date.now())}
      {address && <span className="wrap-anywhere text-soft"> from {address}</span>}
    </span>
  )
}

/** AddressField is where a key may be used from. */
export const AddressField = ({ addresses = [] }: { addresses?: readonly string[] | undefined }) => (
  <FormField name="Allowed addresses" of="allowed_addresses" className="min-w-48 flex-1">
    <Input name="addresses" autoComplete="off" defaultValue={addresses.join(', ')} placeholder="Any; or 10.0.0.0/8, 2001:db8::/32" />
  </FormField>
)

/** KeyName is the name of a key, and where it may be used from. */
export const KeyName = ({ apiKey: { name, allowed_addresses: addresses = [] } }: { apiKey: ApiKey }) => (
  <>
    {name}
    {addresses.length > 0 && <span className="wrap-anywhere block text-soft text-xs">only from {addresses.join(', ')}</span>}
  </>
)

/** addressesIn splits what was typed into the field. */
export const addressesIn = (text: string): string[] => text.split(/[\s,;]+/).filter((address) => address !== '')

/** KeyExpiry warns of an expiry that is near, and says until when the secret before a rotation works. */
export function KeyExpiry({
  apiKey: { expires_at: expiresS, expires_soon: isSoon, previous_key_expires_at: previousS, is_suspended: isSuspended },
}: {
  apiKey: ApiKey
}) {
  return (
    <>
      {expiresS === undefined ? (
        <span className="text-soft">never</span>
      ) : expiresS * 1_000 < Date.now() ? (
        <span className="text-error">expired</span>
      ) : (
        <span className={isSoon ? 'text-warn' : ''}>
          {dayOf(expiresS)}
          {isSoon && ', soon'}
        </span>
      )}
      {isSuspended && <span className="block text-warn text-xs">rests until its user signs on again</span>}
      {previousS !== undefined && <span className="block text-soft text-xs">previous secret until {timeOf(previousS)}</span>}
    </>
  )
}

const dayOf = (seconds: number): string => clockOf(seconds * 1_000, 'utc').day
const timeOf = (seconds: number): string => {
  const { day, clock } = clockOf(seconds * 1_000, 'utc')
  return `${day} ${clock.slice(0, 5)} UTC`
}

const HOUR_S = 3_600
const overlaps = [
  ['0', 'ends at once'],
  [String(HOUR_S), 'works for an hour'],
  [String(24 * HOUR_S), 'works for a day'],
  [String(7 * 24 * HOUR_S), 'works for 7 days'],
  [String(30 * 24 * HOUR_S), 'works for 30 days'],
] as const

type NewSecret = { name: string; key: string }
type KeyRotationProps = {
  apiKey: ApiKey
  stale: readonly unknown[]
  onRotate(overlapS: number): Promise<NewSecret>
  onEndPrevious(): Promise<unknown>
  onRotated(rotated: NewSecret): void
}

/** KeyRotation gives a key another secret, and ends the one before. */
export function KeyRotation({ apiKey, stale, onRotate, onEndPrevious, onRotated }: KeyRotationProps) {
  const [overlap, setOverlap] = useState<string>(String(24 * HOUR_S))
  const end = useSave(onEndPrevious, { stale: [stale] })
  const { previous_key_expires_at: previousS, previous_key_used_at: usedMs } = apiKey
  if (previousS !== undefined)
    return (
      <div className="flex flex-wrap items-center gap-2 border-line border-t p-3">
        <p>
          The previous secret works until {timeOf(previousS)}.{' '}
          {usedMs === undefined ? 'It has not been used since the rotation.' : `It was last used ${ago(usedMs, Date.now())}.`}
        </p>
        <Confirm
          action="End previous secret"
          message="End the previous secret? Requests that still use it are rejected from then on."
          onYes={() => end.mutateAsync()}
        />
      </div>
    )
  return (
    <Form
      action="Make new secret"
      label={`Rotate the key ${apiKey.name}`}
      stale={stale}
      onSend={() => onRotate(Number(overlap))}
      onSaved={onRotated}
      className="border-line border-t"
    >
      <FormField name="Previous secret" of="overlap">
        <Select value={overlap} options={overlaps} onPick={setOverlap} />
      </FormField>
    </Form>
  )
}
