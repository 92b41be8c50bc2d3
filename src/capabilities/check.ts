import type { Registry } from '../models/module.js';
import type { InstalledModels } from './installedmodels.js';
import { LLAMA } from './packages.js';
import { findDamage } from './verify.js';

export interface CapabilityFault {
  /** `models/qwen`, or the slug of what is installed. */
  name: string;
  why: string;
  remedy: string;
}

export const checkCapabilities = async (
  shelf: InstalledModels,
  registry: Registry,
): Promise<CapabilityFault[]> => {
  const installed = await shelf.list();
  const isThere = (slug: string): boolean => installed.some((each) => each.slug === slug);
  const local = registry
    .list()
    .filter(({ provider, isEnabled }) => provider === LLAMA && isEnabled);
  const lacking = local.flatMap(({ name, modelId }) =>
    [modelId, LLAMA]
      .filter((slug) => !isThere(slug))
      .map((slug) => ({
        name: `models/${name}`,
        why: `it needs ${slug}, which is not installed`,
        remedy: `adjutant capabilities install ${slug}   or: adjutant models delete ${name}`,
      })),
  );
  const damaged = await Promise.all(
    installed.map(async (each) => {
      const why = await findDamage(each);
      if (why === null) return [];
      const remedy = `adjutant capabilities install ${each.slug}`;
      const users = local.filter(({ modelId }) => modelId === each.slug);
      const names = users.length > 0 ? users.map(({ name }) => `models/${name}`) : [each.slug];
      return names.map((name) => ({ name, why, remedy }));
    }),
  );
  return [...damaged.flat(), ...lacking];
};
