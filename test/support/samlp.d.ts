/** The parts of a SAML identity provider that tests use; it has no types of its own. */
declare module 'samlp' {
  type Callback<T> = (fault: Error | null, value?: T) => void
  type Options = {
    issuer: string
    cert: string
    key: string
    signingCert?: string
    audience?: string
    recipient?: string
    destination?: string
    inResponseTo?: string
    sessionIndex?: string
    lifetimeInSeconds?: number
    signatureAlgorithm?: 'rsa-sha1' | 'rsa-sha256'
    digestAlgorithm?: 'sha1' | 'sha256'
    signResponse?: boolean
    signAssertion?: boolean
    encryptionPublicKey?: string
    encryptionCert?: string
    encryptionAlgorithm?: string
    disallowEncryptionWithInsecureAlgorithm?: boolean
    authnContextClassRef?: string
    profileMapper(person: object): {
      getClaims(): Record<string, string | string[]>
      getNameIdentifier(): { nameIdentifier: string; nameIdentifierFormat: string }
    }
  }
  type Request = { id: string; issuer: string; assertionConsumerServiceURL: string; destination: string }
  const samlp: {
    parseRequest(
      request: { method: string; query: Record<string, string> },
      options: { signingCert: string; signature?: string | undefined; sigAlg?: string | undefined; relayState?: string | undefined },
      done: Callback<Request>,
    ): void
    getSamlResponse(options: Options, person: object, done: Callback<string>): void
  }
  export = samlp
}
