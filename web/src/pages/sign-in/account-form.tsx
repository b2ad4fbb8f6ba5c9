import type { FormEvent, ReactNode } from 'react'

type AccountFormProps = { title: string; onSubmit(event: FormEvent<HTMLFormElement>): unknown; children: ReactNode }

/** AccountForm is the form of a page outside the app: sign-in, or an invitation. */
export const AccountForm = ({ title, onSubmit, children }: AccountFormProps) => (
  <main className="grid min-h-full grid-cols-1 place-items-center p-4">
    <form onSubmit={onSubmit} className="flex w-96 max-w-full flex-col gap-3 rounded-lg border border-line bg-panel p-6">
      <img src="/docs/icon.svg" alt="" width="40" height="40" />
      <h1 className="font-semibold text-lg">{title}</h1>
      {children}
    </form>
  </main>
)
