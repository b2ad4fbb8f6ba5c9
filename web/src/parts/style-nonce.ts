/** styleNonce is what a style sheet has to name that a part of the interface puts into the page; without it the browser leaves it out. */
export const styleNonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''

/** tellLibraries gives the nonce to those that look for it under the name that bundlers have agreed on. */
export function tellLibraries(): void {
  Object.assign(globalThis, { __webpack_nonce__: styleNonce })
}
