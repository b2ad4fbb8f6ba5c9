import type { Retention, RetentionRule } from '@dendro/api'
import { Link } from '@tanstack/react-router'
import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { ago, count } from '../../parts/chart/numbers.ts'
import { collectionsOf, useDatasetSearch } from '../../parts/datasets/datasets.ts'
import { Form, FormField } from '../../parts/records/form.tsx'
import { MorePages } from '../../parts/records/pages.tsx'
import { EditAndDelete } from '../../parts/records/record-panel.tsx'
import { Loaded, Row, Rows } from '../../parts/records/records.tsx'
import { SearchSelect } from '../../parts/records/search-select.tsx'
import { BackToDatasets } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Page, Panel, panelColumns } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { retentionDaysText } from './retention-days.ts'
import { RETENTION, useRetentionOverview, useRetentionRules } from './retention-lists.ts'
import { retentionChoices, retentionText } from './retentions.ts'

const lengths = retentionChoices('').filter(([value]) => value !== '') as readonly (readonly [Retention, string])[]

/** Edits retention from the organization down to a dataset; the most specific rule wins. */
export function RetentionRules() {
  const [find, setFind] = useState('')
  const rules = useRetentionRules(find)
  const all = useRetentionRules('')
  const overview = useRetentionOverview(find)
  return (
    <Page title="Retention" back={<BackToDatasets />}>
      <p className="max-w-3xl text-soft">
        The most specific rule applies: dataset, then collection, then organization, then the default of the service. Older events are
        hidden at once and deleted by whole days.
      </p>
      <Input
        className="sm:max-w-64"
        placeholder="Find a dataset or collection"
        aria-label="Find a dataset or collection"
        value={find}
        onChange={({ target }) => setFind(target.value)}
      />
      <div className={panelColumns}>
        <Panel title="Rules">
          <Permitted to="retention_write">
            <NewRule rules={all.data ?? []} />
          </Permitted>
          <Loaded of={rules}>
            {(found) => (
              <div aria-busy={rules.isPlaceholderData} className="max-h-112 overflow-auto">
                <Rows
                  label="Rules"
                  columns={['Scope', 'Retention']}
                  empty={find.trim() === '' ? 'No rules yet: the default of the service applies.' : 'No rule matches.'}
                  howTo={find.trim() === '' && <Permitted to="retention_write">Create a rule above.</Permitted>}
                >
                  {found.map((rule) => (
                    <RuleRow key={rule.id} rule={rule} />
                  ))}
                </Rows>
                <MorePages of={rules} />
              </div>
            )}
          </Loaded>
        </Panel>
        <Panel title="Retention by dataset">
          <Loaded of={overview}>
            {({ clock, datasets: kept, deleted, orphans, totals }) => (
              <div aria-busy={overview.isPlaceholderData}>
                {!clock.is_trusted && (
                  <p className="px-3 pt-3 text-soft">Deletion by age is paused until the clock has run for two hours without a jump.</p>
                )}
                {deleted.length > 0 && (
                  <section aria-label="Deleted datasets" className="p-3">
                    <h3 className="mb-1 font-medium">Deleted datasets that are still on disk</h3>
                    <ul>
                      {deleted.map(({ log_id, collection, dataset, deleted_at }) => (
                        <li key={log_id}>
                          {collection} / {dataset} <span className="text-soft">deleted {ago(deleted_at, Date.now())}</span>
                        </li>
                      ))}
                    </ul>
                  </section>
                )}
                {orphans.length > 0 && (
                  <p className="px-3 pt-3 text-warn">
                    <Icon of={TriangleAlert} size="small" className="inline" />{' '}
                    {count(orphans.reduce((sum, { events }) => sum + events, 0))} events belong to unknown datasets and are never deleted.
                  </p>
                )}
                <Rows
                  label="Retention"
                  columns={['Dataset', 'Retention', 'Set by', 'Deleted by age']}
                  empty={totals?.all === 0 ? 'No datasets yet.' : 'No dataset matches.'}
                >
                  {kept.map(({ log_id, collection, dataset, retention_days, rule, removed }) => (
                    <Row
                      key={log_id}
                      cells={[
                        <Link key="name" to="/data" search={{ id: log_id, part: 'care' }} className="text-accent hover:underline">
                          {collection} / {dataset}
                        </Link>,
                        <span key="days" className="whitespace-nowrap">
                          {retentionDaysText(retention_days)}
                        </span>,
                        levels[rule],
                        removed ? count(removed.events) : 'none',
                      ]}
                    />
                  ))}
                </Rows>
                <MorePages of={overview} {...(totals ? { rest: totals.found - kept.length } : {})} />
              </div>
            )}
          </Loaded>
        </Panel>
      </div>
    </Page>
  )
}

const levels = { LOG: 'the dataset', LOG_SET: 'its collection', ORGANISATION: 'the organization', DEPLOYMENT: 'the default of the service' }

/** `rules` are those that are loaded. */
type NewRuleProps = { rules: readonly RetentionRule[] }

/** Sets the retention of the organization or a collection; that of a dataset is set on its own page. */
function NewRule({ rules }: NewRuleProps) {
  const client = useClient()
  const [of, setOf] = useState('')
  const [retention, setRetention] = useState<Retention>('DAYS_90')
  return (
    <Form
      action="Create rule"
      label="New rule"
      stale={RETENTION}
      conflict="scope"
      onSend={() =>
        client.retentionRules.create({
          body:
            of === ''
              ? { entity: 'ORGANISATION', category: 'DEFAULT_RETENTION', retention, scope: { name: 'org:default' } }
              : { entity: 'LOG_SET', category: 'DATASET_RETENTION', retention, scope: { from: of } },
        })
      }
      onSaved={() => setOf('')}
    >
      <FormField name="Scope" of={['scope', 'entity']}>
        <ScopeSelect rules={rules} value={of} onPick={setOf} />
      </FormField>
      <FormField name="Keep events for" of="retention">
        <Select value={retention} options={lengths} onPick={setRetention} />
      </FormField>
    </Form>
  )
}

const ORGANIZATION = ['', 'the organization'] as const
const collectionText = (name: string): string => `the collection ${name}`

/** Selects the organization, or a collection that has no rule yet, as far as the rules are loaded. */
function ScopeSelect({ rules, value, onPick }: NewRuleProps & { value: string; onPick(collection: string): void }) {
  const [find, setFind] = useState('')
  const found = useDatasetSearch(find)
  const isFree = (name: string) => !rules.some(({ entity, scope }) => entity === 'LOG_SET' && nameIn(scope.from) === name)
  const options = [
    ORGANIZATION,
    ...collectionsOf(found.records)
      .filter(isFree)
      .map((name) => [name, collectionText(name)] as const),
  ]
  if (!found.data || found.isWhole) return <Select className="sm:max-w-80" value={value} options={options} onPick={onPick} />
  const selected = value === '' ? ORGANIZATION[1] : collectionText(value)
  return (
    <SearchSelect
      className="sm:max-w-80"
      name="Scope"
      noun="collection"
      selected={selected}
      options={options}
      of={found}
      find={find}
      onFind={setFind}
      onPick={onPick}
    />
  )
}

const nameIn = (from: string | undefined): string => from?.replace(/^log:/, '') ?? ''

function RuleRow({ rule }: { rule: RetentionRule }) {
  const client = useClient()
  const [isEdited, setEdited] = useState(false)
  const [retention, setRetention] = useState(rule.retention)
  const params = { ruleId: rule.id }
  const { entity, category, scope } = rule
  const name =
    entity === 'ORGANISATION' ? 'the organization' : `the ${entity === 'LOG_SET' ? 'collection' : 'dataset'} ${nameIn(scope.from)}`
  return (
    <Row
      cells={[name, retentionText(rule.retention)]}
      below={
        isEdited && (
          <Form
            action="Save"
            needs="retention_write"
            label={`Edit the rule of ${name}`}
            stale={RETENTION}
            isDirty={retention !== rule.retention}
            onSend={() => client.retentionRules.update({ params, body: { entity, category, scope, retention } })}
            onSaved={() => setEdited(false)}
            onCancel={() => setEdited(false)}
          >
            <FormField
              name="Keep events for"
              of="retention"
              help="A shorter time hides older events at once and deletes them within about an hour."
            >
              <Select value={retention} options={lengths} onPick={setRetention} />
            </FormField>
          </Form>
        )
      }
    >
      <EditAndDelete
        rights={{ write: 'retention_write', delete: 'retention_delete' }}
        name={`rule of ${name}`}
        isEdited={isEdited}
        stale={RETENTION}
        onEdit={setEdited}
        message={`Delete the rule of ${name}? The next more general rule applies then, and events older than it allows are deleted.`}
        onDelete={() => client.retentionRules.remove({ params })}
      />
    </Row>
  )
}
