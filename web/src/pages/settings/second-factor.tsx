import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { encode } from 'uqr'
import { Form, FormField } from '../../parts/records/form.tsx'
import { Loaded, ShownOnce } from '../../parts/records/records.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Input } from '../../ui/field.tsx'

const SECOND_FACTOR = ['second factor']
type Setup = { secret: string; address: string }

/** SecondFactor sets up codes of an authenticator app for logins with a password. */
export function SecondFactor() {
  const client = useClient()
  const state = useQuery({ queryKey: SECOND_FACTOR, queryFn: ({ signal }) => client.secondFactor.get({ signal }) })
  const [setup, setSetup] = useState<Setup>()
  const [recovery, setRecovery] = useState<readonly string[]>()
  return (
    <>
      {recovery && <ShownOnce title="Recovery codes: each replaces a code once, if you lose the app" text={recovery.join('\n')} />}
      <Panel title="Second factor">
        <Loaded of={state}>
          {({ enabled, recovery_codes_left }) =>
            enabled ? (
              <>
                <p className="px-3 pt-3">
                  Signing in with the password needs a code of your authenticator app. {recoveryText(recovery_codes_left ?? 0)}
                </p>
                <Form
                  action="Turn off"
                  label="Turn off the second factor"
                  stale={SECOND_FACTOR}
                  onSend={(text) => client.secondFactor.remove({ body: { password: text('password'), code: text('code') } })}
                  onSaved={() => setRecovery(undefined)}
                >
                  <PasswordField />
                  <CodeField />
                </Form>
              </>
            ) : setup ? (
              <Confirmation
                setup={setup}
                onCancel={() => setSetup(undefined)}
                onConfirmed={(codes) => {
                  setRecovery(codes)
                  setSetup(undefined)
                }}
              />
            ) : (
              <>
                <p className="px-3 pt-3">
                  With a second factor, your password alone is not enough to sign in. You need an authenticator app.
                </p>
                <Form
                  action="Set up"
                  label="Set up a second factor"
                  stale={SECOND_FACTOR}
                  onSend={(text) => client.secondFactor.begin({ body: { password: text('password') } })}
                  onSaved={setSetup}
                >
                  <PasswordField />
                </Form>
              </>
            )
          }
        </Loaded>
      </Panel>
    </>
  )
}

const recoveryText = (left: number): string =>
  left === 0
    ? 'No recovery code is left: turn the second factor off and on again to get new ones.'
    : left === 1
      ? '1 recovery code is left.'
      : `${left} recovery codes are left.`

type ConfirmationProps = { setup: Setup; onCancel(): void; onConfirmed(codes: readonly string[]): void }

function Confirmation({ setup, onCancel, onConfirmed }: ConfirmationProps) {
  const client = useClient()
  return (
    <>
      <div className="flex flex-wrap items-center gap-3 px-3 pt-3">
        <QrCode text={setup.address} />
        <div className="flex min-w-48 flex-1 flex-col gap-1">
          <p>Scan this with your authenticator app, or type the secret into it:</p>
          <code className="wrap-anywhere font-mono text-xs">{inGroups(setup.secret)}</code>
          <p>Then enter the code that the app shows.</p>
        </div>
      </div>
      <Form
        action="Turn on"
        label="Turn on the second factor"
        stale={SECOND_FACTOR}
        onSend={(text) => client.secondFactor.confirm({ body: { code: text('code') } })}
        onSaved={({ recovery_codes }) => onConfirmed(recovery_codes)}
        onCancel={onCancel}
      >
        <CodeField />
      </Form>
    </>
  )
}

/** inGroups is a secret as people read it aloud. */
const inGroups = (secret: string): string => secret.replace(/.{4}(?=.)/g, '$& ')

/** QrCode draws dark modules on white in every theme: cameras expect that. */
function QrCode({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 2 })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg
      role="img"
      aria-label="QR code of the secret"
      viewBox={`0 0 ${size} ${size}`}
      className="size-48 rounded border border-line"
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

const PasswordField = () => (
  <FormField name="Your password" of="password">
    <Input name="password" type="password" required autoComplete="current-password" />
  </FormField>
)

const CodeField = () => (
  <FormField name="Code" of="code">
    <Input name="code" required maxLength={40} inputMode="text" autoComplete="one-time-code" className="font-mono" />
  </FormField>
)
