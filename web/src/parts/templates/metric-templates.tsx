import type { BodyInput, contract, MetricDefinition, MetricFormula, MetricQuery } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { Button } from '../../ui/button.tsx'
import { QueryEditor } from '../query/query-editor.tsx'
import { FieldError } from '../records/form.tsx'
import { useClient } from '../shell/client.ts'
import { isMap, isText, listOf, mapOf, parameters } from './placeholders.ts'
import { ParameterFields, PlaceholderMark, type TemplateFormProps, TemplateText, withParameters } from './template-form-fields.tsx'
import { type TemplateApi, TemplateLibrary } from './template-library.tsx'

type BodyOf = BodyInput<(typeof contract)['metricDefinitionTemplates']['create']>

const KEY = ['metric templates']

export function useMetricTemplates() {
  const client = useClient()
  return useQuery({ queryKey: KEY, queryFn: async ({ signal }) => (await client.metricDefinitionTemplates.list({ signal })).templates })
}

type Measured = Pick<MetricDefinition, 'name' | 'description' | 'queries' | 'formulas'>

/** keepMetric saves queries as a template without parameters and returns its id. */
export async function saveMetricTemplate(
  client: ReturnType<typeof useClient>,
  { name, description, queries, formulas }: Measured,
): Promise<string> {
  const body = {
    name: name ?? queries[0]?.name ?? 'metric',
    description: description ?? '',
    queries: queries.map(({ id: _id, ...query }) => query),
    ...(formulas && formulas.length > 0 ? { formulas } : {}),
  }
  return (await client.metricDefinitionTemplates.create({ body })).id
}

/** Manages metric templates, which widget and monitor templates refer to. */
export function MetricTemplates({ first }: { first?: string | undefined }) {
  const client = useClient()
  const library: TemplateApi = {
    list: (query, signal) => client.metricDefinitionTemplates.list({ query, signal }),
    create: (body) => client.metricDefinitionTemplates.create({ body: body as BodyOf }),
    update: (templateId, body) => client.metricDefinitionTemplates.update({ params: { templateId }, body: body as BodyOf }),
    remove: (templateId) => client.metricDefinitionTemplates.remove({ params: { templateId } }),
  }
  return (
    <TemplateLibrary
      rights={{ write: 'dashboards_write', delete: 'dashboards_delete' }}
      title="Metrics"
      noun="metric"
      queryKey={KEY}
      library={library}
      first={first}
      form={form}
      example={{
        name: 'Events of {{region}}',
        description: '',
        queries: [{ name: 'a', select: ['count(*)'], from_expr: '*', where: "region = '{{region}}'" }],
        parameters: { region: { type: 'STRING' } },
      }}
    />
  )
}

const query = mapOf({
  name: isText,
  select: listOf(isText),
  from: listOf(isText),
  from_expr: isText,
  where: isText,
  groups: listOf(isText),
  aggregation: listOf(isMap),
})
const form = {
  Fields: MetricTemplateFields,
  shapes: {
    name: isText,
    description: isText,
    queries: listOf((one) => query(one) && typeof (one as MetricQuery).where === 'string' && Array.isArray((one as MetricQuery).select)),
    formulas: listOf(mapOf({ name: isText, expression: isText })),
    parameters,
  },
}

function MetricTemplateFields({ content, onChange }: TemplateFormProps) {
  const queries = (content.queries ?? []) as MetricQuery[]
  const [formula, ...others] = (content.formulas ?? []) as MetricFormula[]
  const setFormula = (expression: string) => {
    const { formulas: _formulas, ...rest } = content
    const formulas = expression === '' ? others : [{ name: formula?.name ?? 'formula', expression }, ...others]
    onChange(formulas.length === 0 ? rest : { ...rest, formulas })
  }
  const parameterizeDatasets = (of: MetricQuery) => {
    const { from_expr: _expression, ...rest } = of
    const opened = queries.map((one) => (one === of ? { ...rest, from: ['{{datasets}}'] } : one))
    const declared = { datasets: { type: 'STRING_LIST' as const, description: 'dataset ids' } }
    onChange(withParameters({ ...content, queries: opened }, declared))
  }
  const mark = (one: MetricQuery) => (
    <div className="flex flex-wrap items-center gap-2">
      <PlaceholderMark
        text={[one.select[0], one.where, one.from_expr, ...(one.from ?? []), ...(one.groups ?? [])].join(' ')}
        label={`query ${one.name}`}
        content={content}
        onDeclare={(name) => onChange(withParameters(content, { [name]: { type: 'STRING' } }))}
      />
      {!(one.from ?? []).some((id) => id.includes('{{')) && (
        <Button
          size="small"
          variant="quiet"
          onClick={() => parameterizeDatasets(one)}
          aria-label={`Make the datasets a parameter: query ${one.name}`}
        >
          Make the datasets a parameter
        </Button>
      )}
    </div>
  )
  const own = { content, onChange }
  return (
    <>
      <TemplateText {...own} name="Name" of="name" />
      <TemplateText {...own} name="Description" of="description" isLong charsMax={1_000} />
      <h3 className="font-medium">Parameters</h3>
      <ParameterFields {...own} />
      <h3 className="font-medium">Query</h3>
      <p className="-mt-2 text-soft text-xs">A text can contain parameters in double braces, such as {'{{region}}'}.</p>
      <QueryEditor
        queries={queries}
        formula={formula?.expression ?? ''}
        mark={mark}
        onQueries={(next) => onChange({ ...content, queries: next })}
        onFormula={setFormula}
      />
      <FieldError of={['queries', 'formulas']} />
    </>
  )
}
