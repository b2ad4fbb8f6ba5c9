import type { BodyInput, contract, SpendSettings } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Form, FormField, type TextOf } from '../../parts/records/form.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Loading, Panel } from '../../parts/shell/page.tsx'
import { Input, Select } from '../../ui/field.tsx'

const SETTINGS = ['spend', 'settings'] as const
type Unit = 'GB' | 'MONEY'

/** Edits what data costs and what a month may cost. */
export function PriceAndBudget() {
  const client = useClient()
  const settings = useQuery({ queryKey: SETTINGS, queryFn: ({ signal }) => client.spend.settings({ signal }) })
  return (
    <Panel title="Price and budget">
      {settings.error ? <FailureNote thrown={settings.error} again={() => settings.refetch()} /> : null}
      {settings.data === undefined && !settings.error && <Loading />}
      {settings.data && <SettingsForm key={settings.data.metadata.modified_at ?? 0} settings={settings.data} />}
    </Panel>
  )
}

function SettingsForm({ settings: { price, budget } }: { settings: SpendSettings }) {
  const client = useClient()
  const [unit, setUnit] = useState<Unit>(budget?.unit ?? 'GB')
  return (
    <>
      <Form
        action="Save"
        label="Price and budget"
        stale={['spend']}
        needs="limits_write"
        layout="column"
        isDirty={unit !== (budget?.unit ?? 'GB')}
        done="Saved."
        onSend={(text) => client.spend.set({ body: bodyOf(text, unit) })}
      >
        <div className="flex flex-wrap items-start gap-2">
          <FormField name="Currency" of="price.currency" help="such as EUR; empty for none">
            <Input name="currency" maxLength={3} pattern="[A-Za-z]{3}" defaultValue={price?.currency} className="w-24" />
          </FormField>
          <FormField name="Price of a GB" of="price.per_gb">
            <Input name="per_gb" type="number" min={0} step="any" defaultValue={price?.per_gb} />
          </FormField>
          <FormField name="Price of keeping a GB for a day" of="price.per_gb_day">
            <Input name="per_gb_day" type="number" min={0} step="any" defaultValue={price?.per_gb_day} />
          </FormField>
          <FormField name="Budget of a month" of="budget.amount" help="empty for none">
            <Input name="amount" type="number" min={0} step="any" defaultValue={budget?.amount} />
          </FormField>
          <FormField name="Unit of the budget" of="budget.unit">
            <Select
              value={unit}
              options={[
                ['GB', 'gigabytes'],
                ['MONEY', 'money'],
              ]}
              onPick={setUnit}
            />
          </FormField>
        </div>
      </Form>
      <p className="px-3 pb-3 text-soft text-xs">
        Data costs its bytes times both prices, the second for each day of the retention of its dataset. Months are those of UTC. Nothing is
        refused when the budget is exceeded; limits do that.
      </p>
    </>
  )
}

function bodyOf(text: TextOf, unit: Unit): BodyInput<typeof contract.spend.set> {
  const currency = text('currency').toUpperCase()
  return {
    ...(currency === '' ? {} : { price: { currency, per_gb: Number(text('per_gb')), per_gb_day: Number(text('per_gb_day')) } }),
    ...(text('amount') === '' ? {} : { budget: { amount: Number(text('amount')), unit } }),
  }
}
