/**
 * Turns the error of a failed start into one sentence with the cause and the remedy. Our own errors already have both; system errors name
 * only a call and a code.
 */
export function startFailure(thrown: unknown): Error {
  if (!(thrown instanceof Error)) return new Error(String(thrown))
  if (!isSystemError(thrown)) return thrown
  const sentence = ADDRESS_CALLS.has(thrown.syscall) ? ofAddress(thrown) : ofFile(thrown)
  return sentence === undefined ? thrown : new Error(sentence, { cause: thrown })
}

type SystemError = Error & { code: string; syscall: string; path?: string; address?: string; hostname?: string; port?: number }

const isSystemError = (error: Error): error is SystemError =>
  'code' in error && typeof error.code === 'string' && 'syscall' in error && typeof error.syscall === 'string'

const ADDRESS_CALLS: ReadonlySet<string> = new Set(['listen', 'bind', 'getaddrinfo'])

function ofAddress({ code, address, hostname, port }: SystemError): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return 'another program uses the port; set DENDRO_PORT to a free one'
    case 'EACCES':
      return `port ${port} needs privileges; set DENDRO_PORT to 1024 or higher and put a proxy in front`
    case 'EADDRNOTAVAIL':
    case 'EINVAL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `this machine has no address ${address ?? hostname}; set DENDRO_HOST to one of its addresses, such as 127.0.0.1, or to 0.0.0.0 for all`
    default:
      return undefined
  }
}

function ofFile({ code, path = 'a file' }: SystemError): string | undefined {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return `no permission for ${path}; make the user that runs Dendro its owner, or set DENDRO_DATA_DIR to another directory`
    case 'EROFS':
      return `${path} is on a read-only disk; set DENDRO_DATA_DIR to another directory`
    case 'ENOSPC':
    case 'EDQUOT':
      return `the disk of ${path} is full; free some space and start again`
    case 'EEXIST':
    case 'ENOTDIR':
      return `${path} must be a directory but is not; remove it, or set DENDRO_DATA_DIR to another directory`
    case 'ENOENT':
      return `${path} cannot be created; set DENDRO_DATA_DIR to another directory`
    case 'EIO':
      return `the disk of ${path} fails; set DENDRO_DATA_DIR to another directory and restore a backup`
    case 'EMFILE':
    case 'ENFILE':
      return 'the limit on open files is too low; raise it (ulimit -n, or LimitNOFILE of systemd) to 65536'
    default:
      return undefined
  }
}
