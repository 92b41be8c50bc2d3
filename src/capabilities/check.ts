import type { Registry } from '../models/module.js';
import { LLAMA } from './packages.js';
import type { Shelf } from './shelf.js';
import { damageOf } from './verify.js';

/** Something that does not work because of what is, or is not, installed. */
export interface CapabilityFault {
  /** `models/qwen`, or the slug of what is installed. */
  name: string;
  why: string;
  remedy: string;
}

/** Lists the models that lack what they need, and what is installed and damaged. */
export const checkCapabilities = async (
  shelf: Shelf,
  registry: Registry,
): Promise<CapabilityFault[]> => {
  const installed = await shelf.list();
  const isThere = (slug: string): boolean => installed.some((each) => each.slug === slug);
  const local = registry
    .list()
    .filter(({ provider, isEnabled }) => provider === LLAMA && isEnabled);
  const lacking = local.flatMap(({ name, modelId }) =>
    [LLAMA, modelId]
      .filter((slug) => !isThere(slug))
      .map((slug) => ({
        name: `models/${name}`,
        why: `it needs ${slug}, which is not installed`,
        remedy: `adjutant capabilities install ${slug === LLAMA ? LLAMA : 'gguf:<name>'}   or: adjutant models delete ${name}`,
      })),
  );
  const damaged = await Promise.all(
    installed.map(async (each) => {
      const why = await damageOf(each);
      const remedy = `adjutant capabilities delete ${each.slug} --force, then install it again`;
      return why === null ? [] : [{ name: each.slug, why, remedy }];
    }),
  );
  return [...lacking, ...damaged.flat()];
};
