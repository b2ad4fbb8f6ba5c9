import { networkCheck } from '../../kernel/networks.ts'

/** Checks addresses of senders against networks such as 10.0.0.0/8; without networks, all may send. */
export const senderCheck = (networks: readonly string[] | undefined): ((address: string) => boolean) =>
  networks === undefined ? () => true : networkCheck(networks)
