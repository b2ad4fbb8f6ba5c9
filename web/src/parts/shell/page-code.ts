import { NoResponse } from '@dendro/api/client'

const RELOADED_KEY = 'dendro.reloaded'

/**
 * loadCode imports the code of a page or of a part of it. If that fails although the service answers, a newer version has replaced the file, and the
 * page is loaded again, once. If the service does not answer, the page stays as it is and shows that.
 */
export async function loadCode<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (thrown) {
    const reason = String(thrown)
    if (sessionStorage.getItem(RELOADED_KEY) === reason || !(await answers())) throw new NoResponse('/app', thrown)
    sessionStorage.setItem(RELOADED_KEY, reason)
    location.reload()
    return new Promise(() => undefined)
  }
}

/** True when the service answers at all. */
const answers = (): Promise<boolean> =>
  fetch('/health', { cache: 'no-store' }).then(
    () => true,
    () => false,
  )

let isReloading = false

/**
 * reloadWhenAnswered loads the page again if the service answers: browsers may keep that a file could not be loaded. It does so once, since another
 * reload would cancel the one under way, and impatient clicks would keep the page from ever coming.
 */
export async function reloadWhenAnswered(): Promise<void> {
  if (isReloading || !(await answers()) || isReloading) return
  isReloading = true
  location.reload()
}

/** loadedOnce imports code once. After a failure the next call imports it again. */
export function loadedOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  return () => {
    loaded ??= load().catch((thrown: unknown) => {
      loaded = undefined
      throw thrown
    })
    return loaded
  }
}
