import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useClient } from '../shell/client.ts'
import { useMe } from '../shell/me.ts'
import { FormField } from './form.tsx'
import type { FormTarget } from './targets.ts'

const ACTIONS_MAX = 10
const MAIL = 'mail'

type TargetFieldsProps = {
  targets: readonly FormTarget[]
  /** Shows the parameters in a template address, which then need not be valid. */
  mark?: (target: FormTarget, at: number) => ReactNode
  onChange(targets: readonly FormTarget[]): void
}

/** TargetFields edit the list of recipients. */
export function TargetFields({ targets, mark, onChange }: TargetFieldsProps) {
  const canSendMail = useMe().data?.can_send_mail ?? true
  const integrations = useIntegrations()
  const first = canSendMail ? undefined : integrations.data?.find(({ id }) => !targets.some(({ integration_id }) => integration_id === id))
  return (
    <>
      {!canSendMail && (
        <p className="text-soft text-xs">
          This service has no mail server, so e-mail is not delivered.{' '}
          {integrations.data?.length === 0 && (
            <Link to="/settings" search={{ part: 'integrations' }} className="text-accent underline">
              Create a webhook or a chat integration
            </Link>
          )}
        </p>
      )}
      {targets.map((target, at) => (
        <OneTarget
          // biome-ignore lint/suspicious/noArrayIndexKey: a target has no id, and its address changes while typing
          key={at}
          target={target}
          mark={mark?.(target, at)}
          isOpen={mark !== undefined}
          onChange={(by) => onChange(targets.map((one, index) => (index === at ? by : one)))}
          onRemove={targets.length > 1 || mark ? () => onChange(targets.filter((_, index) => index !== at)) : undefined}
        />
      ))}
      {targets.length < ACTIONS_MAX && (
        <div className="flex flex-wrap gap-1">
          <Button size="small" variant="quiet" onClick={() => onChange([...targets, first ? { integration_id: first.id } : { email: '' }])}>
            Add recipient
          </Button>
          {!mark && <IntegrationButtons targets={targets} onChange={onChange} />}
        </div>
      )}
    </>
  )
}

/** IntegrationButtons add the first webhooks and chats by one click each. An empty address makes place for them. */
function IntegrationButtons({ targets, onChange }: Pick<TargetFieldsProps, 'targets' | 'onChange'>) {
  const integrations = useIntegrations()
  const unused = (integrations.data ?? []).filter(({ id }) => !targets.some(({ integration_id }) => integration_id === id))
  return unused.slice(0, BUTTONS_MAX).map(({ id, name }) => (
    <Button
      key={id}
      size="small"
      onClick={() => onChange([...targets.filter(({ email }) => email === undefined || email.trim() !== ''), { integration_id: id }])}
    >
      <Icon of={Plus} size="small" /> {name}
    </Button>
  ))
}

const BUTTONS_MAX = 4

type OneTargetProps = {
  target: FormTarget
  mark: ReactNode
  isOpen: boolean
  onChange(by: FormTarget): void
  onRemove: (() => void) | undefined
}

function OneTarget({ target, mark, isOpen, onChange, onRemove }: OneTargetProps) {
  const integrations = useIntegrations()
  const canSendMail = useMe().data?.can_send_mail ?? true
  const isMail = target.email !== undefined
  const known = (integrations.data ?? []).map(({ id, name }) => [id, name] as const)
  const own = isMail ? MAIL : (target.integration_id ?? '')
  const gone = isMail || known.some(([id]) => id === own) ? [] : [[own, integrations.data ? 'Deleted integration' : '…'] as const]
  return (
    <div className="flex items-start gap-2">
      <Field name="Channel" className="w-32 shrink-0 sm:w-44">
        <Select
          value={own}
          options={[[MAIL, canSendMail ? 'E-mail' : 'E-mail (not delivered)'], ...known, ...gone]}
          onPick={(next) => onChange(next === MAIL ? { email: '' } : { integration_id: next })}
        />
      </Field>
      {isMail ? (
        <FormField name="Address" of="actions" className="flex-1" below={mark}>
          <Input
            type={isOpen ? 'text' : 'email'}
            placeholder="oncall@example.org"
            value={target.email}
            onChange={(event) => onChange({ ...target, email: event.target.value })}
          />
        </FormField>
      ) : (
        <span className="flex-1" />
      )}
      {onRemove && (
        <Button variant="quiet" className="mt-4.5" aria-label="Remove the recipient" onClick={onRemove}>
          <Icon of={X} size="small" />
        </Button>
      )}
    </div>
  )
}

/** Loads the webhooks and chats that monitors can notify. */
export function useIntegrations() {
  const client = useClient()
  return useQuery({
    queryKey: ['notification targets'],
    queryFn: async ({ signal }) => {
      const [webhooks, chats] = await Promise.all([client.integrations.webhooks({ signal }), client.integrations.slack({ signal })])
      return [
        ...webhooks.integrations.map(({ id, name }) => ({ id, name: `Webhook ${name}` })),
        ...chats.integrations.map(({ id, name }) => ({ id, name: `Chat ${name}` })),
      ]
    },
  })
}
