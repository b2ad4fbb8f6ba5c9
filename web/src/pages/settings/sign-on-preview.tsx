import type { BodyOf, contract } from '@dendro/api'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Panel } from '../../parts/shell/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Select, TextArea } from '../../ui/field.tsx'
import { IDPS } from './provider-form.tsx'
import { useRoleNames } from './role-picker.tsx'
import { claimsIn } from './sign-on-claims.ts'
import { useGroupNames } from './sign-on-mappings.tsx'

const EXAMPLE = '{ "groups": ["operators"] }'
type Claims = BodyOf<typeof contract.sso.preview>['claims']

/** SignOnPreview shows what a sign-on would get, before anybody signs on. */
export function SignOnPreview() {
  const client = useClient()
  const providers = useQuery({ queryKey: IDPS, queryFn: ({ signal }) => client.sso.idps({ signal }) })
  const [picked, setPicked] = useState('')
  const [text, setText] = useState(EXAMPLE)
  const preview = useMutation({
    mutationFn: (ask: { idp: string; claims: Claims }) => client.sso.preview({ body: ask }),
  })
  const names = (providers.data?.idps ?? []).map(({ name }) => name)
  const idp = names.includes(picked) ? picked : names[0]
  const claims = claimsIn(text)
  if (idp === undefined) return null
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (claims) preview.mutate({ idp, claims: claims as Claims })
  }
  return (
    <Panel title="What would this sign-on get?">
      <form onSubmit={send} aria-label="What would this sign-on get?" className="flex flex-col gap-3 p-3">
        <Field name="By the provider" className="max-w-80">
          <Select value={idp} options={names.map((name) => [name, name] as const)} onPick={setPicked} />
        </Field>
        <Field name="Claims" help="The claims or attributes of a person as JSON, or an ID token.">
          <TextArea
            rows={4}
            className="font-mono text-xs"
            spellCheck={false}
            value={text}
            onChange={(event) => {
              setText(event.target.value)
              preview.reset()
            }}
          />
        </Field>
        {claims === undefined && <p className="text-error text-xs">Neither a JSON object nor an ID token.</p>}
        {preview.error && <FailureNote thrown={preview.error} />}
        {preview.data && <Outcome {...preview.data} />}
        <div>
          <Button type="submit" disabled={claims === undefined || preview.isPending}>
            Show
          </Button>
        </div>
      </form>
    </Panel>
  )
}

function Outcome({ roles, groups }: { roles: readonly string[]; groups: readonly string[] }) {
  const nameOf = useRoleNames()
  const groupNames = useGroupNames()
  return (
    <p role="status">
      {roles.length === 0 && groups.length === 0
        ? 'Nothing: a person without any role cannot sign on.'
        : `Roles: ${roles.map(nameOf).join(', ') || 'none'}. Groups: ${groups.map((id) => groupNames.get(id) ?? id).join(', ') || 'none'}.`}{' '}
      <span className="text-soft">Roles and groups that the user has otherwise stay.</span>
    </p>
  )
}
