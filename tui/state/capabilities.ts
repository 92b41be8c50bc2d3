import { isOver } from '../../cli/operations/bar.js';
import type { Capability, Client, Hardware, Operation } from '../../src/client/index.js';
import type { ListName } from './rows.js';

/** A capability, with an id that stays the same when it is installed. */
export interface CapabilityItem extends Capability {
  /** The id by which the daemon knows it: its slug, or what to install. */
  apiId: string;
}

/** Id of the only row in the list of machines. */
export const HARDWARE = 'hardware';
export interface HardwareItem extends Hardware {
  id: typeof HARDWARE;
}

/** Returns the slug that something has once it is installed: `qwen3-4b-q4_k_m`. */
export const capabilitySlug = (id: string): string =>
  id
    .replace(/^gguf:/, '')
    .replaceAll(':', '-')
    .toLowerCase();

export const readCapabilities = async ({ capabilities }: Client): Promise<CapabilityItem[]> => {
  const { capabilities: all } = await capabilities.list({});
  return all.map((each) => ({ ...each, id: capabilitySlug(each.id), apiId: each.id }));
};

export const readHardware = async ({ capabilities }: Client): Promise<HardwareItem[]> => [
  { ...(await capabilities.hardware({})), id: HARDWARE },
];

/** Returns the lists that may have changed with the end of an operation on a capability. */
export const listsAfter = (operation: Operation): ListName[] =>
  operation.kind.startsWith('capabilities.') && isOver(operation)
    ? ['capabilities', 'hardware', 'models']
    : [];
