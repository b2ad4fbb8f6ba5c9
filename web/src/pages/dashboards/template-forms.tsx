import type { TemplateReference } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { FieldError, FormField } from '../../parts/records/form.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { useMetricTemplates } from '../../parts/templates/metric-templates.tsx'
import {
  isMap,
  isText,
  listOf,
  mapOf,
  parameters,
  parametersOf,
  references,
  type TemplateContent,
} from '../../parts/templates/placeholders.ts'
import type { TemplateForm } from '../../parts/templates/template-editor.tsx'
import {
  ParameterFields,
  ReferenceList,
  type TemplateFormProps,
  TemplateText,
  withParameters,
} from '../../parts/templates/template-form-fields.tsx'
import { Select } from '../../ui/field.tsx'
import { widgetTypes } from './widget-style.ts'

function useWidgetTemplates() {
  const client = useClient()
  return useQuery({
    queryKey: ['widget templates'],
    queryFn: async ({ signal }) => (await client.widgetTemplates.list({ signal })).templates,
  })
}

const referencesIn = (content: TemplateContent, of: 'metrics' | 'widgets') => (content[of] ?? []) as TemplateReference[]

/** Sets the widgets and drops layouts of removed ones. */
function withWidgets(content: TemplateContent, widgets: readonly TemplateReference[]): TemplateContent {
  const layout = content.layout as { widget_layouts?: { id: string }[] } | undefined
  const widget_layouts = layout?.widget_layouts?.filter((place) => widgets.some(({ id }) => id === place.id))
  return { ...content, widgets, ...(widget_layouts ? { layout: { ...layout, widget_layouts } } : {}) }
}

/** Head has the fields that every template has: texts and parameters. */
function Head(own: TemplateFormProps) {
  return (
    <>
      <TemplateText {...own} name="Name" of="name" />
      <TemplateText {...own} name="Description" of="description" isLong charsMax={1_024} />
      <h3 className="font-medium">Parameters</h3>
      <ParameterFields {...own} />
    </>
  )
}

function Widgets({ content, onChange }: TemplateFormProps) {
  const widgets = useWidgetTemplates()
  return (
    <>
      <ReferenceList
        label="Widget template"
        add="a widget"
        of="widgets"
        templates={widgets.data}
        references={referencesIn(content, 'widgets')}
        declared={parametersOf(content)}
        onChange={(next, declared) => onChange(withParameters(withWidgets(content, next), declared))}
      />
      <FieldError of="layout" />
    </>
  )
}

const DashboardTemplateFields = (own: TemplateFormProps) => (
  <>
    <Head {...own} />
    <h3 className="font-medium">Widgets</h3>
    <Widgets {...own} />
  </>
)

function WidgetTemplateFields({ content, onChange }: TemplateFormProps) {
  const metrics = useMetricTemplates()
  const own = { content, onChange }
  const [shown, within] = [referencesIn(content, 'metrics'), referencesIn(content, 'widgets')]
  return (
    <>
      <Head {...own} />
      <h3 className="font-medium">Metrics and widgets</h3>
      {within.length === 0 && (
        <>
          <FormField name="Visualization" of="type">
            <Select
              value={String(content.type ?? 'line')}
              options={widgetTypes as readonly (readonly [string, string])[]}
              onPick={(type) => onChange({ ...content, type })}
            />
          </FormField>
          <ReferenceList
            label="Metric template"
            add="a metric"
            of="metrics"
            templates={metrics.data}
            references={shown}
            declared={parametersOf(content)}
            onChange={(next, declared) => onChange(withParameters({ ...content, metrics: next }, declared))}
          />
        </>
      )}
      {/* A frame around others shows no metrics of its own. */}
      {shown.length === 0 && <Widgets {...own} />}
    </>
  )
}

const shapes = {
  name: isText,
  description: isText,
  widgets: references.many,
  layout: mapOf({ widget_layouts: listOf(isMap) }),
  parameters,
}
export const dashboardTemplateForm: TemplateForm = { Fields: DashboardTemplateFields, shapes }
export const widgetTemplateForm: TemplateForm = {
  Fields: WidgetTemplateFields,
  shapes: { ...shapes, type: (value) => widgetTypes.some(([type]) => type === value), metrics: references.many },
}
