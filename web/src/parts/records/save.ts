import { useMutation, useQueryClient } from '@tanstack/react-query'

type SaveOptions<Out> = {
  /** The query keys to reload after success. */
  stale: readonly (readonly unknown[])[]
  /** Runs after the reload, for example to navigate. */
  onSaved?(saved: Out): unknown
}

/** Sends a change of a record and reloads what it made stale. */
export function useSave<In = void, Out = unknown>(send: (input: In) => Promise<Out>, { stale, onSaved }: SaveOptions<Out>) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: send,
    onSuccess: async (saved: Out) => {
      for (const queryKey of stale) await queries.invalidateQueries({ queryKey })
      await onSaved?.(saved)
    },
  })
}
