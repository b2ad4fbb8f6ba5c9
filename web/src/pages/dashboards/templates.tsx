import type { BodyInput, contract } from '@dendro/api'
import { Link } from '@tanstack/react-router'
import { BackToDashboards } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Page } from '../../parts/shell/page.tsx'
import { MetricTemplates } from '../../parts/templates/metric-templates.tsx'
import { type TemplateApi, TemplateLibrary } from '../../parts/templates/template-library.tsx'
import { dashboardTemplateForm, widgetTemplateForm } from './template-forms.tsx'

type Kind = 'dashboardTemplates' | 'widgetTemplates'
/** Casts an unchecked body; the service validates it. */
type BodyOf<K extends Kind> = BodyInput<Contract[K]['create']>
type Contract = typeof contract

/** Lists the templates of dashboards, widgets and metrics; each refers to templates of the next kind. */
export function DashboardTemplates() {
  const client = useClient()
  const dashboards: TemplateApi = {
    list: (query, signal) => client.dashboardTemplates.list({ query, signal }),
    create: (body) => client.dashboardTemplates.create({ body: body as BodyOf<'dashboardTemplates'> }),
    update: (templateId, body) => client.dashboardTemplates.update({ params: { templateId }, body: body as BodyOf<'dashboardTemplates'> }),
    remove: (templateId) => client.dashboardTemplates.remove({ params: { templateId } }),
  }
  const widgets: TemplateApi = {
    list: (query, signal) => client.widgetTemplates.list({ query, signal }),
    create: (body) => client.widgetTemplates.create({ body: body as BodyOf<'widgetTemplates'> }),
    update: (templateId, body) => client.widgetTemplates.update({ params: { templateId }, body: body as BodyOf<'widgetTemplates'> }),
    remove: (templateId) => client.widgetTemplates.remove({ params: { templateId } }),
  }
  return (
    <Page title="Templates" back={<BackToDashboards />}>
      <p className="-mt-2 text-soft">“Save as template” on a dashboard creates templates of the dashboard, its widgets and its metrics.</p>
      <TemplateLibrary
        rights={{ write: 'dashboards_write', delete: 'dashboards_delete' }}
        title="Dashboards"
        noun="dashboard"
        queryKey={['dashboard templates']}
        library={dashboards}
        form={dashboardTemplateForm}
        example={{ name: 'Region {{region}}', widgets: [], this_template_tags: {}, parameters: { region: { type: 'STRING' } } }}
        use={({ id, name }) => (
          <Link to="/dashboards" search={{ template: id }} className={useLinkClass} aria-label={`Use the template ${name}`}>
            Use
          </Link>
        )}
      />
      <TemplateLibrary
        rights={{ write: 'dashboards_write', delete: 'dashboards_delete' }}
        title="Widgets"
        noun="widget"
        queryKey={['widget templates']}
        library={widgets}
        form={widgetTemplateForm}
        example={{ name: 'Events of {{region}}', type: 'line', metrics: [], parameters: { region: { type: 'STRING' } } }}
      />
      <MetricTemplates />
    </Page>
  )
}

const useLinkClass = 'inline-flex h-6.5 items-center rounded bg-accent px-2 text-accent-ink text-xs'
