import type { BodyInput, contract } from '@dendro/api'
import { Link } from '@tanstack/react-router'
import { BackToMonitors } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { useMe } from '../../parts/shell/me.ts'
import { Page, panelColumns } from '../../parts/shell/page.tsx'
import { MetricTemplates } from '../../parts/templates/metric-templates.tsx'
import { type TemplateApi, TemplateLibrary } from '../../parts/templates/template-library.tsx'
import { monitorTemplateForm } from './template-form.tsx'

type Contract = typeof contract

/** Lists the monitor templates; each refers to a metric template for its queries. */
export function MonitorTemplates({ first }: { first: string | undefined }) {
  const client = useClient()
  const monitors: TemplateApi = {
    list: (query, signal) => client.monitorTemplates.list({ query, signal }),
    // The service validates the body.
    create: (body) => client.monitorTemplates.create({ body: body as BodyInput<Contract['monitorTemplates']['create']> }),
    update: (templateId, body) =>
      client.monitorTemplates.update({ params: { templateId }, body: body as BodyInput<Contract['monitorTemplates']['update']> }),
    remove: (templateId) => client.monitorTemplates.remove({ params: { templateId } }),
  }
  const canSendMail = useMe().data?.can_send_mail ?? true
  return (
    <Page title="Monitor templates" back={<BackToMonitors />}>
      <p className="-mt-2 text-soft">“Save as template” on a monitor creates a template. Its queries become a metric template.</p>
      <div className={panelColumns}>
        <TemplateLibrary
          rights={{ write: 'monitors_write', delete: 'monitors_delete' }}
          title="Monitors"
          noun="monitor"
          queryKey={['monitor templates']}
          library={monitors}
          first={first}
          form={monitorTemplateForm}
          example={{
            name: 'Errors of {{service}}',
            comparison_operator: 'ABOVE',
            threshold: '{{threshold}}',
            window: 'Last 5 minutes',
            ...(canSendMail ? { actions: '[{"email":"{{email}}"}]' } : {}),
            metric: { id: '', arguments: {} },
            parameters: {
              service: { type: 'STRING' },
              threshold: { type: 'DOUBLE' },
              ...(canSendMail ? { email: { type: 'STRING' } } : {}),
            },
            this_template_tags: {},
          }}
          use={({ id, name }) => (
            <Link
              to="/monitors"
              search={{ template: id }}
              className="inline-flex h-6.5 items-center rounded bg-accent px-2 text-accent-ink text-xs"
              aria-label={`Use the template ${name}`}
            >
              Use
            </Link>
          )}
        />
        <MetricTemplates />
      </div>
    </Page>
  )
}
