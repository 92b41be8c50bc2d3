import type { Capability, Client, Hardware } from '../../src/client/index.js';

/** A capability with an id that does not change when it is installed. */
export interface CapabilityItem extends Capability {
  /** Id at the daemon: the slug, or the install id. */
  apiId: string;
}

export const HARDWARE = 'hardware';
export interface HardwareItem extends Hardware {
  id: typeof HARDWARE;
}

/** Slug after the installation: `qwen3-4b-q4_k_m`. */
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
