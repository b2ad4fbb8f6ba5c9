let token: string | undefined

/** Keeps the token of an invitation link in memory. */
export function takeInvitation({ pathname, searchParams }: URL): boolean {
  if (pathname !== '/accept-invite') return false
  token = searchParams.get('token') ?? undefined
  return true
}

export const invitationToken = (): string | undefined => token
